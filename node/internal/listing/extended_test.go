package listing

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/identity"
)

// H.7: what is said beyond the public card, under its sequence and times, signed
// like it. Prices stand on no public card unless the operator wants that.
func TestTheExtendedCard(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	p, h := publisher(t, &now), &hub{}
	const network = "hub:x"
	served := serving(t, fixed{caps: []string{"text.digest", "text.paid", "text.private"}, priced: "text.paid"})
	offer := func(change func(*config.Config), ids ...string) Listing {
		c := public(config.Closed, nil, ids...)
		if change != nil {
			change(c)
		}
		return Of(c, served, network)
	}
	read := func(raw []byte) *card.Verified {
		t.Helper()
		v := card.Verifier{Now: func() time.Time { return now }, KEL: func(context.Context, string) ([]byte, error) { return p.Keys.Signer().KEL(), nil }, Replay: identity.Replay}
		s, err := v.Verify(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	extended := func(l, more Listing) []byte {
		t.Helper()
		raw, err := p.Extended(l, more)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	ids := func(c card.Card) string {
		var all []string
		for _, s := range c.Skills {
			all = append(all, s.ID)
		}
		return strings.Join(all, " ")
	}

	l := offer(nil, "text.digest", "text.paid")
	if extended(l, l) != nil {
		t.Error("there is an extended card before a public one was published")
	}
	register(t, p, h, l)
	shown := read(h.last().A2ACard)
	declared, required := shown.Card.Payment()
	if list, err := shown.Card.Prices(); err != nil || list != nil || !declared || required || !shown.Card.Capabilities.ExtendedAgentCard {
		t.Errorf("the public card says of prices %+v, %v; declared %v, required %v", list, err, declared, required)
	}
	now = now.Add(time.Hour)
	general := read(extended(l, l))
	list, err := general.Card.Prices()
	if err != nil || list == nil || list.Network != network || list.Prices["text.paid"] != 3 || len(list.Prices) != 1 || general.Stamp != shown.Stamp || ids(general.Card) != "text.digest text.paid" {
		t.Errorf("for everybody: prices %+v, %v, skills %s, stamp %+v; want the paid one and the stamp %+v", list, err, ids(general.Card), general.Stamp, shown.Stamp)
	}
	listed := read(extended(l, l.ForListed(served)))
	if ids(listed.Card) != "text.digest text.paid text.private" || listed.Stamp != shown.Stamp {
		t.Errorf("for who is on a list: %s, stamp %+v", ids(listed.Card), listed.Stamp)
	}

	free := offer(nil, "text.digest")
	register(t, p, h, free)
	if extended(free, free) != nil || extended(free, free.ForListed(served)) == nil {
		t.Error("a node that charges nothing has something to say to everybody, or nothing to who is on a list")
	}
	all := offer(func(c *config.Config) { c.Payments.PublicPrices = true }, "text.paid")
	register(t, p, h, all)
	shown = read(h.last().A2ACard)
	_, required = shown.Card.Payment()
	if list, err := shown.Card.Prices(); err != nil || list == nil || list.Prices["text.paid"] != 3 || !required {
		t.Errorf("with public prices: %+v, %v, payment required %v", list, err, required)
	}
	if none := Of(public(config.Closed, nil, "text.paid"), served, ""); extended(none, none) != nil {
		t.Error("a node that cannot be paid shows prices")
	}
}

// H.6: what is sold through the gateway stands in a card of its own, which is signed
// anew when it says something else or grows old, and names no price once nothing is
// sold there.
func TestTheCardForTheGateway(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	p, h := publisher(t, &now), &hub{}
	served := serving(t, fixed{caps: []string{"text.digest", "text.paid"}, priced: "text.paid"})
	offer := func(network string, sold ...string) Listing {
		l := Of(public(config.Closed, nil, "text.digest", "text.paid"), served, network)
		l.Sold, l.RedeemAt = sold, "https://node.example.org/redeem"
		return l
	}
	send := func(l Listing) []byte { t.Helper(); register(t, p, h, l); return h.last().Card }
	admitted := func(raw []byte) *adp.Card {
		t.Helper()
		history, err := identity.Replay(p.Keys.Signer().KEL())
		if err != nil {
			t.Fatal(err)
		}
		c, err := adp.Admit(raw, history, 0, now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}

	if raw := send(offer("hub:x")); raw != nil {
		t.Errorf("a node that sells nothing there sends %s", raw)
	}
	first := send(offer("hub:x", "text.paid", "text.digest", "text.gone"))
	c := admitted(first)
	if got := c.Prices(); len(got) != 1 || got["text.paid"] != 3 || c.RedeemAt() != "https://node.example.org/redeem" {
		t.Errorf("the card sells %v at %q, want what has a price and is served", got, c.RedeemAt())
	}
	now = now.Add(time.Hour)
	if string(send(offer("hub:x", "text.paid"))) != string(first) {
		t.Error("the same offer was signed anew")
	}
	now = now.Add(2 * 24 * time.Hour)
	renewed := send(offer("hub:x", "text.paid"))
	if string(renewed) == string(first) || admitted(renewed).Seq <= c.Seq {
		t.Error("an old card was not renewed")
	}
	for name, l := range map[string]Listing{"nothing is sold any more": offer("hub:x"), "it cannot be paid": offer("", "text.paid")} {
		if c := admitted(send(l)); len(c.Prices()) != 0 || c.RedeemAt() != "" {
			t.Errorf("%s: the card sells %v", name, c.Prices())
		}
	}
}
