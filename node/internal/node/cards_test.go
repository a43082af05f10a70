//go:build !no_payments

package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/task"
)

// priced is the card of a node that sells "job", as its listing would sign it.
func (w *world) priced(r *running, seq int64, prices map[string]uint64, skills ...string) []byte {
	w.t.Helper()
	p := card.Profile{AID: r.aid(), HubURL: "https://hub.example.org", ExtendedCard: true}
	for _, id := range skills {
		p.Skills = append(p.Skills, card.Skill{ID: id})
	}
	if prices != nil {
		p.Extensions = []card.Extension{card.PaymentExtension(false), card.PriceList{Network: w.hub.Ledger().Network(), Prices: prices}.Extension(card.ExtPrice)}
	}
	now := time.Now().UnixMilli()
	unsigned, err := p.Build(card.Stamp{Seq: seq, IssuedAt: now, NotBefore: now - 1})
	w.must(err)
	signed, err := card.Sign(r.Keys.Signer(), unsigned, "")
	w.must(err)
	return signed
}

// showing gives out one card to everybody, another to who is on a list.
func showing(general, list *[]byte) option {
	return func(p *Parts) {
		p.Extended = func(listed bool) ([]byte, error) {
			if listed {
				return *list, nil
			}
			return *general, nil
		}
	}
}

// H.7: the extended card goes between two nodes, to each the one for it, and is
// kept for a day.
func TestExtendedCards(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var general, list []byte
		shop, alice := w.node("shop", showing(&general, &list)), w.node("alice")
		public := Card{AID: shop.aid(), Verified: true, Card: w.priced(shop, 1, nil, "job"), Charge: ChargeSome}
		look := func(want string) {
			t.Helper()
			got, err := alice.Priced(t.Context(), public)
			w.must(err)
			s := got.PricesError
			if got.Prices != nil {
				for _, one := range got.Prices.Skills {
					s += one.ID + " " + one.Amount + " "
				}
			}
			if s != want {
				t.Errorf("the prices are %q, want %q", s, want)
			}
		}
		sent := func() (n int) {
			for _, a := range w.hub.Attempts() {
				if a.What == "send" {
					n++
				}
			}
			return n
		}
		public.Charge = ChargeFree
		look("")
		if sent() != 0 {
			t.Error("an agent was contacted though its card speaks of no payment")
		}
		w.must(alice.Lists.Put(shop.aid(), peers.Trust))
		look("") // not_configured
		if sent() == 0 {
			t.Error("a contact was not asked")
		}
		_, err := alice.Lists.Remove(shop.aid())
		w.must(err)
		public.Charge = ChargeSome
		look("")
		general = w.priced(shop, 1, map[string]uint64{"job": 5}, "free", "job")
		list = w.priced(shop, 1, map[string]uint64{"job": 5, "more": 7}, "free", "job", "more")
		time.Sleep(time.Hour)
		look("")
		time.Sleep(24 * time.Hour)
		look("free 0 job 5 ")
		w.must(shop.Lists.Put(alice.aid(), peers.Allow))
		look("free 0 job 5 ")
		time.Sleep(24 * time.Hour)
		look("free 0 job 5 more 7 ")
		for _, n := range []*running{shop, alice} {
			if len(w.inbox(n)) != 0 {
				t.Error("asking for a card made a task")
			}
		}
	})
}

// What does not hold is not shown, and an older statement not taken after a newer
// one.
func TestExtendedCardsThatDoNotHold(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var given []byte
		shop, alice, other := w.node("shop", showing(&given, &given)), w.node("alice"), w.node("other")
		public := Card{AID: shop.aid(), Verified: true, Card: w.priced(shop, 1, nil, "job"), Charge: ChargeSome}
		prices := map[string]uint64{"job": 5}
		spoilt := w.priced(shop, 7, prices, "job")
		spoilt = append(spoilt[:len(spoilt):len(spoilt)], ' ')
		spoilt[len(spoilt)/2] ^= 1
		for _, tt := range []struct {
			name string
			card []byte
			want string
		}{
			{"another's", w.priced(other, 7, prices, "job"), CardUnproven},
			{"not signed so", spoilt, CardUnproven},
			{"good", w.priced(shop, 7, prices, "job"), ""},
			{"older", w.priced(shop, 6, prices, "job"), CardUnproven},
			{"another of that number", w.priced(shop, 7, map[string]uint64{"job": 6}, "job"), CardUnproven},
			{"newer", w.priced(shop, 8, prices, "job"), ""},
		} {
			given = tt.card
			got, err := alice.Priced(t.Context(), public)
			w.must(err)
			if got.PricesError != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got.PricesError, tt.want)
			}
			time.Sleep(25 * time.Hour)
		}
	})
}

// An agent that does not answer holds nobody up for long, and is not asked again
// at once.
func TestAnAgentThatGivesNoCard(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, alice := w.node("shop"), w.node("alice")
		public := Card{AID: shop.aid(), Verified: true, Card: w.priced(shop, 1, nil, "job"), Charge: ChargeAll}
		w.end(shop)
		for _, most := range []time.Duration{cardWait, 0, 0} {
			begun := time.Now()
			got, err := alice.Priced(t.Context(), public)
			if err != nil || got.PricesError != CardUnanswered || time.Since(begun) > most {
				t.Errorf("after %v: %q, %v; want %s within %v", time.Since(begun), got.PricesError, err, CardUnanswered, most)
			}
		}
		asked := func(when string, want int) {
			t.Helper()
			if n := len(w.hub.Mail(shop.aid())); n != want {
				t.Errorf("%s it was asked %d times, want %d", when, n, want)
			}
		}
		asked("at once", 1)
		time.Sleep(cardPause - cardWait - time.Second)
		_, err := alice.Priced(t.Context(), public)
		w.must(err)
		asked("within the minute", 1)
		time.Sleep(time.Second)
		_, err = alice.Priced(t.Context(), public)
		w.must(err)
		asked("after the minute", 2)
	})
}

// An answer is one to the very request, by the agent that was asked.
func TestAnswersForCardsAreThoseOfTheAgentAsked(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(w *world, by **stranger, a *task.CardAnswer)
		want  string
	}{
		{"as it should be", func(*world, **stranger, *task.CardAnswer) {}, ""},
		{"to another request", func(_ *world, _ **stranger, a *task.CardAnswer) { a.Nonce[0] ^= 1 }, CardUnanswered},
		{"by somebody else", func(w *world, by **stranger, _ *task.CardAnswer) { *by = w.stranger() }, CardUnanswered},
		{"that it is busy", func(_ *world, _ **stranger, a *task.CardAnswer) { a.Status = task.CardBusy }, CardIsBusy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, shop := w.node("alice"), w.stranger()
				shown := make(chan Card, 1)
				go func() {
					got, err := alice.Priced(t.Context(), Card{AID: shop.signer.AID(), Verified: true, Card: []byte("{}"), Charge: ChargeSome})
					w.must(err)
					shown <- got
				}()
				time.Sleep(time.Second)
				asked := shop.open()[0]
				request, err := task.Parse[task.CardRequest](asked.Body)
				w.must(err)
				by, answer := shop, task.CardAnswer{Nonce: request.Nonce, Status: task.CardNotConfigured}
				tt.spoil(w, &by, &answer)
				by.send(alice, task.TypeCard, asked.Ix, body(w, answer))
				if got := <-shown; got.PricesError != tt.want {
					t.Errorf("%q, want %q", got.PricesError, tt.want)
				}
			})
		})
	}
}

// A stranger gets six answers in a minute, and a denied one none.
func TestAnswersForCardsAreBounded(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var given []byte
		shop, mallory := w.node("shop", showing(&given, &given)), w.stranger()
		ask := func() {
			for range 10 {
				id, r := task.NewCardRequest()
				mallory.send(shop, task.TypeCardRequest, id, body(w, r))
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(time.Minute - time.Duration(time.Now().UnixMilli()%60_000)*time.Millisecond)
		ask()
		if n := len(mallory.open()); n != 6 {
			t.Errorf("%d answers in a minute, want 6", n)
		}
		w.must(shop.Lists.Put(mallory.signer.AID(), peers.Deny))
		time.Sleep(2 * time.Minute)
		ask()
		if n := len(mallory.open()); n != 6 {
			t.Errorf("%d answers once it was denied, want no more than 6", n)
		}
	})
}

// A quote above the price that its provider signed is not paid without a person
// who saw it.
func TestAQuoteAboveTheSignedPrice(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var given []byte
		job := &counter{cap: "job", price: 5}
		shop := w.node("shop", serving(job), public(config.DefaultPublic("job")), showing(&given, &given))
		alice := w.node("alice")
		w.hub.Ledger().Grant(alice.aid(), 50)
		given = w.priced(shop, 1, map[string]uint64{"job": 4}, "job")
		shown, err := alice.Priced(t.Context(), Card{AID: shop.aid(), Verified: true, Card: w.priced(shop, 1, nil, "job"), Charge: ChargeAll})
		w.must(err)
		if shown.Prices == nil || shown.Prices.Skills[0].Amount != "4" {
			t.Fatalf("the prices are %+v", shown)
		}
		asked := w.order(alice, shop, &Consent{Max: 9})
		wantOutcome(t, "with what was agreed", asked, "input-required PAYMENT_REQUIRED quote_above_price unknown")
		_, err = alice.Pay(t.Context(), asked.ID, Consent{Max: 5})
		w.must(err)
		wantOutcome(t, "by hand", w.wait(alice, asked.ID, time.Minute), "completed OK  verified")
	})
}
