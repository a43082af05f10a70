package journal

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/task"
)

// What counts against the limits: all that moved or may have, and what failed until
// its signature is of no use to anybody.
func TestWhatIsSpent(t *testing.T) {
	j, c := newJournal(t)
	put := func(id, tier string, amount uint64, state SpendState, until time.Duration) {
		j.must(t, func(tx *Tx) error {
			return tx.PutSpend(Spend{
				AuthID: id, Task: "t", Payee: "p", Amount: amount, Network: "n", Tier: tier, Accepted: []byte("{}"), Signed: []byte{1},
				NotAfter: c.t.Add(until), State: state,
			})
		})
	}
	since := c.t
	want := func(when, tier string, n uint64) {
		t.Helper()
		j.must(t, func(tx *Tx) error {
			got, err := tx.Spent(since, tier)
			if got != n {
				t.Errorf("%s: %d is spent, want %d", when, got, n)
			}
			return err
		})
	}
	want("nothing was signed", "", 0)
	put("a", "explicit", 5, SpendOpen, 5*time.Minute)
	put("b", "agent", 3, SpendPaid, 5*time.Minute)
	put("c", "agent", 2, SpendFailed, 5*time.Minute)
	want("all of it", "", 10)
	want("of programs", "agent", 5)
	c.t = c.t.Add(5*time.Minute + SpendGrace)
	want("what failed is over", "", 8)
	put("a", "explicit", 5, SpendPaid, 5*time.Minute)
	want("what was open is paid", "", 8)
	since = c.t
	want("another day", "", 0)
}

// The ledger is asked for what lapsed, and not for ever.
func TestLapsedSpends(t *testing.T) {
	j, c := newJournal(t)
	j.must(t, func(tx *Tx) error {
		return tx.PutSpend(Spend{AuthID: "a", Task: "t", Accepted: []byte("{}"), Signed: []byte{1}, NotAfter: c.t.Add(time.Minute), State: SpendOpen})
	})
	begun := c.t
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {time.Minute + SpendGrace - time.Second, 0}, {time.Minute + SpendGrace, 1}, {6 * 24 * time.Hour, 1}, {8 * 24 * time.Hour, 0}} {
		c.t = begun.Add(tt.after)
		j.must(t, func(tx *Tx) error {
			lapsed, err := tx.Lapsed()
			if len(lapsed) != tt.want {
				t.Errorf("after %v: %d lapsed, want %d", tt.after, len(lapsed), tt.want)
			}
			return err
		})
	}
}

// A sale outlives its task, and what was settled is not forgotten as what failed is.
func TestSales(t *testing.T) {
	j, c := newJournal(t)
	sale := Sale{Task: "t", Peer: "p", Capability: "x", AuthID: "a", Amount: 1<<63 - 1, Network: "n", Wanted: []byte("{}"), Payload: []byte("{}")}
	j.must(t, func(tx *Tx) error {
		k := Task{ID: "t", Peer: "p", Role: Provider, Trust: TrustPublicCap, State: task.Working, Capability: "x"}
		if err := tx.PutTask(&k); err != nil {
			return err
		}
		return tx.PutSale(sale)
	})
	look := func(when string, unsettled, owed int) {
		t.Helper()
		j.must(t, func(tx *Tx) error {
			open, err := tx.Unsettled(10)
			if err != nil {
				return err
			}
			work, err := tx.Owed(10)
			if len(open) != unsettled || len(work) != owed {
				t.Errorf("%s: %d unsettled and %d owed, want %d and %d", when, len(open), len(work), unsettled, owed)
			}
			return err
		})
	}
	look("taken", 1, 0)
	j.must(t, func(tx *Tx) error {
		sale.Settlement, sale.Settled = []byte("{}"), c.t
		if err := tx.PutSale(sale); err != nil {
			return err
		}
		return tx.DropSale("t")
	})
	look("settled", 0, 1)
	j.must(t, func(tx *Tx) error {
		k, err := tx.NeedTask("t")
		if err != nil {
			return err
		}
		k.To(task.Completed, c.t)
		return tx.PutTask(&k)
	})
	look("done", 0, 0)
	c.t = c.t.Add(time.Hour)
	j.must(t, func(tx *Tx) error {
		if _, err := tx.PurgeTasks(c.t); err != nil {
			return err
		}
		kept, found, err := tx.Sale("t")
		if !found || kept.Amount != sale.Amount || !kept.Paid() {
			t.Errorf("after its task was deleted the sale is %+v, %v", kept, found)
		}
		return err
	})
}
