package ledger_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

// A card is verified once and not for each who asks for a quote; another card, or
// another key history, is another matter.
func TestACardIsVerifiedOnce(t *testing.T) {
	b := newBank(t)
	bob := b.bob.AID()
	sells := func(price uint64) []byte {
		card, err := adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": price}}.Sign(b.bob, 0, b.clock)
		if err != nil {
			t.Fatal(err)
		}
		return card
	}
	quote := func(card, kel []byte) (uint64, error) {
		b.books.Sellers[bob] = ledger.Seller{KEL: kel, Card: card}
		o, err := b.Offer(t.Context(), bob, "text.digest")
		return o.Price, err
	}
	good := sells(25)
	for range 10 {
		if price, err := quote(good, b.bob.KEL()); err != nil || price != 25 {
			t.Fatalf("%d, %v", price, err)
		}
	}
	if n := b.replays.Load(); n != 1 {
		t.Errorf("the card was verified %d times, want once", n)
	}
	if price, err := quote(sells(30), b.bob.KEL()); err != nil || price != 30 {
		t.Errorf("with another price: %d, %v", price, err)
	}
	if _, err := quote(bytes.Replace(good, []byte("25"), []byte("24"), 1), b.bob.KEL()); !errs.Is(err, "seller_card_invalid") {
		t.Errorf("a price that nobody signed: %v", err)
	}
	rotated := testkit.Rotated(t, b.bob, b.clock.Add(-time.Minute))
	if _, err := quote(good, rotated.KEL()); !errs.Is(err, "seller_card_invalid") {
		t.Errorf("signed after the key was retired: %v", err)
	}
	b.clock = b.clock.Add(30 * 24 * time.Hour)
	if price, err := quote(good, b.bob.KEL()); err != nil || price != 25 {
		t.Errorf("a month later: %d, %v", price, err)
	}
}
