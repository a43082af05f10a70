package journal

import "testing"

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
