package card

import (
	"maps"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestHubBase(t *testing.T) {
	for url, want := range map[string]string{
		"https://hub.example/relay":       "https://hub.example",
		"https://hub.example/relay/v2":    "https://hub.example",
		"https://hub.example/relay/v2/":   "https://hub.example",
		"https://hub.example":             "https://hub.example",
		"https://hub.example//":           "https://hub.example",
		"https://hub.example/anet/relay":  "https://hub.example/anet",
		"https://hub.example/relay/v3":    "https://hub.example/relay/v3",
		"https://hub.example/relay/relay": "https://hub.example/relay",
		"https://relay":                   "https://relay",
		"":                                "",
	} {
		if got := HubBase(url); got != want {
			t.Errorf("HubBase(%q) = %q, want %q", url, got, want)
		}
	}
	c := Card{Interfaces: []Interface{{URL: "tcp://x", ProtocolBinding: P2PBinding}, {URL: "https://h/relay", ProtocolBinding: RelayBinding}}}
	if got := c.HubBase(); got != "https://h" {
		t.Errorf("Card.HubBase = %q, want that of the relay interface", got)
	}
	if got := (&Card{}).HubBase(); got != "" {
		t.Errorf("Card.HubBase without a relay = %q, want none", got)
	}
}

func withExtensions(e ...Extension) *Card {
	return &Card{Capabilities: Capabilities{Extensions: e}}
}

func TestPricesReadWhatExtensionWrites(t *testing.T) {
	list := PriceList{"hub:bafyhub", map[string]uint64{"text.digest": 5, "a": 1<<63 - 1}}
	for _, uri := range []string{ExtPrice, ExtPricing} {
		got, err := withExtensions(list.Extension(uri)).Prices()
		if err != nil || got.Network != list.Network || !maps.Equal(got.Prices, list.Prices) {
			t.Errorf("%s: Prices = %+v, %v, want %+v", uri, got, err, list)
		}
	}
	cheap := PriceList{"hub:bafyhub", map[string]uint64{"text.digest": 1}}
	got, err := withExtensions(cheap.Extension(ExtPricing), list.Extension(ExtPrice)).Prices()
	if err != nil || got.Prices["text.digest"] != 5 {
		t.Errorf("with both lists: %+v, %v, want the extended card's", got, err)
	}
	if got, err := withExtensions().Prices(); got != nil || err != nil {
		t.Errorf("without a list: %+v, %v, want none", got, err)
	}
}

func TestPriceExtensionIsPublishable(t *testing.T) {
	want := `{"asset":"credit","network":"hub:h","prices":[{"amount":"1","skillId":"a"},{"amount":"2","skillId":"b"}]}`
	e := PriceList{"hub:h", map[string]uint64{"b": 2, "a": 1}}.Extension(ExtPrice)
	if got, err := canonical(e.Params); err != nil || string(got) != want {
		t.Errorf("params = %s, %v, want %s", got, err, want)
	}
	p := profile(suite(t))
	p.Extensions = []Extension{e, PaymentExtension(true)}
	if _, err := p.Build(Stamp{Seq: 1}); err != nil {
		t.Errorf("Build = %v", err)
	}
}

func TestPricesRefuse(t *testing.T) {
	for _, params := range []string{
		``, `[]`, `{"prices":[{"skillId":"a","amount":5}]}`, `{"prices":[{"skillId":"a","amount":"0"}]}`,
		`{"prices":[{"skillId":"a","amount":"05"}]}`, `{"prices":[{"skillId":"a","amount":"9223372036854775808"}]}`,
		`{"prices":[{"skillId":"a","amount":"1"},{"skillId":"a","amount":"2"}]}`,
		`{"asset":"usd","prices":[]}`,
	} {
		_, err := withExtensions(Extension{URI: ExtPricing, Params: jsontext.Value(params)}).Prices()
		if CodeOf(err) != InvalidCard {
			t.Errorf("prices %s: %v, want %s", params, err, InvalidCard)
		}
	}
}

func TestPayment(t *testing.T) {
	for _, tt := range []struct {
		why                string
		card               *Card
		declared, required bool
	}{
		{"nothing said", withExtensions(), false, false},
		{"some skills", withExtensions(PaymentExtension(false)), true, false},
		{"every skill", withExtensions(PaymentExtension(true)), true, true},
	} {
		if d, r := tt.card.Payment(); d != tt.declared || r != tt.required {
			t.Errorf("%s: Payment = %v %v, want %v %v", tt.why, d, r, tt.declared, tt.required)
		}
	}
}

func TestClipKeepsCharactersWhole(t *testing.T) {
	long := "a"
	for len(long) < 200 {
		long += "é"
	}
	if got := clip(long); !utf8.ValidString(got) || len(got) > 70 {
		t.Errorf("clip = %q", got)
	}
}
