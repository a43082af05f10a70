package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/wire"
)

// town is a hub with agents of all kinds, and a browser.
type town struct {
	hub       *stage.Hub
	text, eve *stage.Agent
	far       *stage.Agent // at another hub
	browser   *stage.Browser
}

const sensors = 30

func settle(t *testing.T) *town {
	t.Helper()
	b := stage.NewBrowser(t)
	b.Window(1100, 800)
	b.Light("light")
	hub := stage.FederatedHub(t, "hub")
	p := &town{hub: &hub.Hub, text: stage.NewAgent(t, &hub.Hub), eve: stage.NewAgent(t, &hub.Hub), browser: b}
	enrol(t, p.text, wire.Register{
		Name: "text tools", Caps: []string{"text", "free"}, Summary: "Digests and counts texts, on a machine in Ghent.",
		Readme:  "# Text tools\n\nSends back what was asked for, nothing else. See https://example.org/text.\n\n    {\"text\": \"hello\"}\n",
		Pricing: "Free, twenty calls a minute.",
	}, card.Skill{ID: "text.digest", Name: "Digest", Description: "The SHA-256 of args.text.", Tags: []string{"text", "hash"}, Examples: []string{`{"text":"hello"}`}},
		card.Skill{ID: "text.wordcount", Name: "Count words", Description: "How many words args.text has.", Tags: []string{"text"}})
	evil := "</p><script>alert(1)</script><img src=x onerror=alert(1)>\u202e" + strings.Repeat("Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤", 8)
	enrol(t, p.eve, wire.Register{
		Name: evil[:100], Caps: []string{strings.Repeat("w", 256), "javascript:alert(1)"}, Summary: strings.Repeat("W", 512),
		Readme: evil + strings.Repeat("M", 15<<10), Pricing: strings.Repeat("$", 1024),
	}, card.Skill{ID: strings.Repeat("long", 60), Name: evil, Description: evil, Tags: []string{strings.Repeat("t", 200)}, Examples: []string{strings.Repeat("e", 300)}})
	for i := range sensors {
		stage.NewAgent(t, &hub.Hub).Register(fmt.Sprintf("sensor.s%02d", i), "sensor.temperature")
	}
	p.neighbour(t, hub)
	return p
}

// neighbour is another hub with an agent that the town learns of.
func (p *town) neighbour(t *testing.T, hub *stage.InnerHub) {
	t.Helper()
	next := stage.FederatedHub(t, "labs")
	p.far = stage.NewAgent(t, &next.Hub)
	p.far.Offer(stage.PublicURL("labs"), "federated", "text.translate")
	stage.AddPeer(t, next, "town", hub.URL)
	stage.AddPeer(t, hub, "labs", next.URL)
	stage.AddPeer(t, hub, strings.Repeat("x", 32), stage.FederatedHub(t, "other").URL, "--discovery", "off")
	stage.Until(t, stage.Patience, "the town learns of the agent of another hub", func() bool { return hub.Lists(t, "text.translate", p.far.AID()) })
}

// enrol registers an agent with a signed card.
func enrol(t *testing.T, a *stage.Agent, r wire.Register, skills ...card.Skill) {
	t.Helper()
	raw, err := card.Publish(a.Controller, card.Profile{AID: a.AID(), HubURL: "https://hub.example.org", Name: r.Name, Skills: skills}, nil, time.Now())
	stage.Must(t, err)
	r.AID, r.KEL, r.A2ACard = a.AID(), a.KEL(), raw
	var done wire.Registered
	a.Do(wire.ActionRegister, "/register", r).Ask(t, &done)
	if done.CardStatus != "ok" {
		t.Fatalf("the card was not taken: %+v", done)
	}
}

// paths are a page of every kind.
func (p *town) paths() []string {
	return []string{
		"/", "/?cap=text.*", "/?cap=" + strings.Repeat("w", 256), "/?cap=light.onoff", "/?cap=" + url.QueryEscape(strings.Repeat("x", 200)+"*y"),
		"/?q=" + strings.Repeat("q", 200), "/a/" + p.text.AID(), "/a/" + p.eve.AID(), "/hub", "/nowhere",
		"/peers", "/a/" + p.far.AID(),
	}
}
