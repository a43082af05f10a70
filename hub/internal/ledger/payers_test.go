package ledger_test

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// Payments to and fro cost their payer nothing, and each is written down for good.
func TestOnePayerDoesNotFillTheBooks(t *testing.T) {
	b := newBank(t)
	b.Payers = limiter(b, 2)
	b.books.Balances[b.bob.AID()] = 1
	first, second, third := b.pays(1), b.pays(1), b.pays(1)
	for _, p := range []*ledgertest.Payment{first, second} {
		if s := b.settle(p); !s.Success {
			t.Fatal(s)
		}
	}
	s, err := b.Settle(t.Context(), third.Request(t), "")
	if s.ErrorReason != payment.SettlementPending || s.Transaction == "" || errs.As(err) == nil || errs.As(err).RetryAfter <= 0 {
		t.Errorf("one more than the rate: %+v, %v; want it pending until some time", s, err)
	}
	for range 5 {
		if s := b.settle(first); !s.Success {
			t.Errorf("what moved before, brought again: %+v", s)
		}
	}
	if s := b.settle(ledgertest.Pay(b.bob, b.alice.AID(), b.hub.AID(), 1, b.clock)); !s.Success {
		t.Errorf("another payer: %+v", s)
	}
	b.clock = b.clock.Add(time.Second)
	if s := b.settle(third); !s.Success {
		t.Errorf("a second later: %+v", s)
	}
}
