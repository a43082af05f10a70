package journal

import (
	"testing"
	"time"
)

// A payment that was taken for a task buys nothing with a voucher, and is known to
// have been used by whoever asks.
func TestWhatAPaymentBought(t *testing.T) {
	j, _ := newJournal(t)
	j.must(t, func(tx *Tx) error {
		if err := tx.PutTask(&Task{ID: "t", Role: Provider}); err != nil {
			return err
		}
		return tx.PutSale(Sale{Task: "t", AuthID: "by task", Wanted: []byte("{}"), Payload: []byte("{}")})
	})
	for _, tt := range []struct {
		payment string
		first   bool
	}{{"by task", false}, {"by voucher", true}, {"by voucher", false}} {
		j.must(t, func(tx *Tx) error {
			first, err := tx.SpendVoucher(tt.payment, []byte("voucher"))
			if first != tt.first {
				t.Errorf("a voucher of the payment %s is spent for the first time: %v", tt.payment, first)
			}
			return err
		})
		j.must(t, func(tx *Tx) error {
			bought, _, err := tx.Bought(tt.payment)
			if !bought {
				t.Errorf("the payment %s bought nothing", tt.payment)
			}
			return err
		})
	}
}

// What came of a voucher is told for a while; that it was spent, for ever.
func TestWhatVouchersCameToIsForgotten(t *testing.T) {
	j, c := newJournal(t)
	spend := func(id string, outcome []byte) {
		j.must(t, func(tx *Tx) error {
			if _, err := tx.SpendVoucher(id, []byte("voucher")); err != nil || outcome == nil {
				return err
			}
			return tx.PutOutcome(id, outcome)
		})
	}
	spend("old", []byte(`{"status":"OK"}`))
	spend("interrupted", nil)
	c.t = c.t.Add(time.Hour)
	spend("new", []byte(`{"status":"OK"}`))
	for _, want := range []int64{2, 0} {
		j.must(t, func(tx *Tx) error {
			n, err := tx.PurgeVouchers(c.t)
			if n != want {
				t.Errorf("forgot %d, want %d", n, want)
			}
			return err
		})
	}
	for id, want := range map[string]string{"old": "null", "interrupted": "null", "new": `{"status":"OK"}`} {
		j.must(t, func(tx *Tx) error {
			spent, outcome, err := tx.Bought(id)
			if !spent || string(outcome) != want {
				t.Errorf("%s: spent %v, %s, want %s", id, spent, outcome, want)
			}
			return err
		})
	}
}
