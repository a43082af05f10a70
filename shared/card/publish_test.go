package card

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Checklist 37: what a signer refuses although a verifier may take it.
func TestSignRefusesOtherForms(t *testing.T) {
	c := suite(t)
	for _, tt := range []struct {
		why    string
		change func(card tree)
	}{
		{"a member nobody knows", func(card tree) { card["x"] = "y" }},
		{"one inside a skill", func(card tree) { object(card, "skills", 0)["x"] = "y" }},
		{"a missing required member", func(card tree) { delete(card, "version") }},
		{"a member of the wrong type", func(card tree) { card["iconUrl"] = 1 }},
		{"an empty version", func(card tree) { card["version"] = "" }},
		{"null", func(card tree) { card["iconUrl"] = nil }},
		{"an empty list", func(card tree) { object(card, "skills", 0)["examples"] = []any{} }},
		{"an empty text in a list", func(card tree) { object(card, "skills", 0)["examples"] = []any{""} }},
		{"an empty object", func(card tree) { card["securitySchemes"] = tree{} }},
		{"an empty text inside params", func(card tree) { identityOf(card)["x"] = "" }},
		{"null inside params", func(card tree) { identityOf(card)["x"] = tree{"y": nil} }},
		{"a false implicit boolean", func(card tree) { object(card, "capabilities", "extensions", 0)["required"] = false }},
		{"no streaming", func(card tree) { delete(object(card, "capabilities"), "streaming") }},
		{"no pushNotifications", func(card tree) { delete(object(card, "capabilities"), "pushNotifications") }},
		{"a false extendedAgentCard", func(card tree) { object(card, "capabilities")["extendedAgentCard"] = false }},
	} {
		card := parsed(t, signedCard(t, c))
		tt.change(card)
		if _, err := Sign(c, printed(t, card), ""); CodeOf(err) != NotPublishForm {
			t.Errorf("%s: %v, want %s", tt.why, err, NotPublishForm)
		}
	}
}

func TestSignRefusesTheCardOfAnother(t *testing.T) {
	raw, err := Profile{AID: "bafyother", HubURL: "https://hub.example", Skills: []Skill{{ID: "a"}}}.Build(Stamp{Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(suite(t), raw, ""); CodeOf(err) != BindingMismatch {
		t.Errorf("Sign = %v, want %s", err, BindingMismatch)
	}
}

func TestSignTakesFlagsThatAreSet(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	object(card, "capabilities")["streaming"] = true
	object(card, "capabilities")["extendedAgentCard"] = true
	if _, err := Sign(c, printed(t, card), ""); err != nil {
		t.Errorf("Sign = %v", err)
	}
}

// Checklist 37: no address of this machine reaches a public card.
func TestBuildRefusesLocalAddresses(t *testing.T) {
	for _, url := range []string{
		"http://127.0.0.1:8080", "http://127.8.0.1", "http://[::1]:1", "http://[::ffff:127.0.0.1]", "http://[::]",
		"http://0.0.0.0", "http://localhost", "http://LOCALHOST.:80", "http://hub.localhost", "unix:///run/x",
		"unix://host/x", "/relay", "hub.example", "", "http://", "tcp:127.0.0.1:1",
	} {
		p := profile(suite(t))
		p.HubURL = url
		if _, err := p.Build(Stamp{Seq: 1}); CodeOf(err) != NotPublishForm {
			t.Errorf("hub %q: %v, want %s", url, err, NotPublishForm)
		}
		if err := CheckHub(url); CodeOf(err) != NotPublishForm {
			t.Errorf("CheckHub(%q) = %v, want %s", url, err, NotPublishForm)
		}
	}
	for _, url := range []string{"https://hub.example", "http://192.0.2.1:8080/anet/", "http://localhost.example"} {
		p := profile(suite(t))
		p.HubURL = url
		if _, err := p.Build(Stamp{Seq: 1}); err != nil {
			t.Errorf("hub %q: %v, want none", url, err)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, tt := range []struct {
		why    string
		change func(p *Profile)
		want   Code
	}{
		{"no skills", func(p *Profile) { p.Skills = nil }, InvalidCard},
		{"a skill twice", func(p *Profile) { p.Skills = append(p.Skills, p.Skills[0]) }, InvalidCard},
		{"a skill without id", func(p *Profile) { p.Skills = []Skill{{Name: "x"}} }, InvalidCard},
		{"a long name", func(p *Profile) { p.Name = strings.Repeat("n", 129) }, CardTooLarge},
		{"a second relay", func(p *Profile) {
			p.Interfaces = []Interface{{"https://b.example/relay", RelayBinding, "1.0", p.AID}}
		}, NotPublishForm},
		{"an extension twice", func(p *Profile) {
			p.Extensions = []Extension{PaymentExtension(true), PaymentExtension(false)}
		}, NotPublishForm},
		{"a number in params, deep", func(p *Profile) {
			p.Extensions = []Extension{{URI: "u", Params: jsontext.Value(`{"a":[{"b":1}]}`)}}
		}, NotPublishForm},
		{"params that are no object", func(p *Profile) {
			p.Extensions = []Extension{{URI: "u", Params: jsontext.Value(`["a"]`)}}
		}, NotPublishForm},
		{"bad UTF-8", func(p *Profile) { p.Name = "\xff" }, NotPublishForm},
		{"a noncharacter", func(p *Profile) { p.Name = "\ufffe" }, NotPublishForm},
	} {
		p := profile(suite(t))
		tt.change(&p)
		if _, err := p.Build(Stamp{Seq: 1}); CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
}
