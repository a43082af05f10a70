package journal

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/task"
)

// What counts against the limits: all that moved or may have, for all the ledger has
// said.
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
	want("what failed is over, by the word of who was paid", "", 10)
	put("c", "agent", 2, SpendVoid, 5*time.Minute)
	want("by the ledger's", "", 8)
	put("a", "explicit", 5, SpendPaid, 5*time.Minute)
	want("what was open is paid", "", 8)
	since = c.t
	want("another day", "", 0)
}

// A ledger is asked for what lapsed on its own network, whatever the provider said, and
// not for ever.
func TestLapsedSpends(t *testing.T) {
	j, c := newJournal(t)
	for i, state := range []SpendState{SpendOpen, SpendFailed, SpendPaid, SpendVoid} {
		j.must(t, func(tx *Tx) error {
			return tx.PutSpend(Spend{AuthID: string(state), Task: "t", Network: "here", Amount: uint64(i), Accepted: []byte("{}"), Signed: []byte{1},
				NotAfter: c.t.Add(time.Minute), State: state})
		})
	}
	begun := c.t
	for _, tt := range []struct {
		after   time.Duration
		network string
		want    int
	}{
		{0, "here", 0}, {time.Minute + SpendGrace - time.Second, "here", 0}, {time.Minute + SpendGrace, "here", 2},
		{time.Minute + SpendGrace, "elsewhere", 0}, {6 * 24 * time.Hour, "here", 2}, {8 * 24 * time.Hour, "here", 0},
	} {
		c.t = begun.Add(tt.after)
		j.must(t, func(tx *Tx) error {
			lapsed, err := tx.Lapsed(tt.network)
			if len(lapsed) != tt.want {
				t.Errorf("%s after %v: %d lapsed, want %d", tt.network, tt.after, len(lapsed), tt.want)
			}
			due, found, err2 := tx.NextTending(time.Hour, time.Hour, tt.network)
			if want := tt.network == "here" && tt.after < 8*24*time.Hour; err2 != nil || found != want || found && !due.Equal(begun.Add(time.Minute+SpendGrace)) {
				t.Errorf("%s after %v: due %v at %v, %v", tt.network, tt.after, found, due, err2)
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
