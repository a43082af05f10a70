package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// twin is a bank beside the simplest books there are: whatever is asked of one is
// asked of both.
type twin struct {
	*bank
	model   *ledger.Ledger
	books   *ledgertest.Books
	members []*directorytest.Node
	r       *rand.Rand
	old     []*ledgertest.Payment // to be brought again
}

func newTwin(t *testing.T, seed uint64) *twin {
	w := &twin{bank: newBank(t), books: ledgertest.NewBooks(), r: rand.New(rand.NewPCG(seed, 7))}
	w.model = newLedger(w.books, w, identity.Replay, w.clock.now)
	for range 4 {
		w.join()
	}
	return w
}

func (w *twin) join() {
	n := w.node()
	w.register(n, n.Register("n"))
	w.members = append(w.members, n)
	w.books.Registered[n.AID()] = n.Key.KEL()
	w.books.Due = append(w.books.Due, n.AID())
}

func (w *twin) anybody() *directorytest.Node { return w.members[w.r.IntN(len(w.members))] }

// payment is a new one, or one that was there before, or one like it.
func (w *twin) payment(to string) *ledgertest.Payment {
	if len(w.old) > 0 && w.r.IntN(4) == 0 {
		return w.old[w.r.IntN(len(w.old))]
	}
	p := ledgertest.Pay(w.anybody().Key, to, w.key.AID(), 1+w.r.Uint64N(70), w.clock.now())
	if w.r.IntN(2) == 0 {
		p.For(fmt.Sprint("thing ", w.r.IntN(12)))
	}
	w.old = append(w.old, p)
	return p
}

// step does one thing to both, and gives what each said of it.
func (w *twin) step() (what string, real, model string) {
	ctx := context.Background()
	switch w.r.IntN(10) {
	case 0:
		w.join()
		return "join", "", ""
	case 1:
		return "book grants", say(w.BookGrants(ctx)), say(w.model.BookGrants(ctx))
	case 2:
		to, amount, by := w.anybody().AID(), 1+w.r.Uint64N(50), audit.By{Who: "op", How: "test"}
		a, err := w.Grant(ctx, to, amount, by)
		b, failed := w.model.Grant(ctx, to, amount, by)
		return "grant", fmt.Sprint(a, say(err)), fmt.Sprint(b, say(failed))
	case 3, 4:
		p := w.payment(w.key.AID()).Payload(w.t)
		a, err := w.Redeem(ctx, p, "ref", "")
		b, failed := w.model.Redeem(ctx, p, "ref", "")
		return "redeem", fmt.Sprint(a.Amount, a.Reference, say(err)), fmt.Sprint(b.Amount, b.Reference, say(failed))
	}
	p := w.payment(w.anybody().AID()).Request(w.t)
	a, err := w.Settle(ctx, p, "")
	b, failed := w.model.Settle(ctx, p, "")
	return "settle", fmt.Sprint(a.Success, a.ErrorReason, len(a.Extensions), say(err)), fmt.Sprint(b.Success, b.ErrorReason, len(b.Extensions), say(failed))
}

// say is a failure in a word.
func say(err error) string {
	no := (*ledger.Refusal)(nil)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &no):
		return no.Reason
	}
	return errs.As(err).Reason
}

// alike compares every balance, and what is in circulation.
func (w *twin) alike(after string) {
	w.t.Helper()
	for aid, want := range maps.All(w.books.Balances) {
		a, _, err := w.Show(context.Background(), aid, 1)
		if err != nil || a.Balance != want {
			w.t.Fatalf("after %s: %s has %d, the model %d, %v", after, aid, a.Balance, want, err)
		}
	}
	if t, err := NewLedger(w.pool, nil).Totals(context.Background()); err != nil || t.Circulation != w.books.Circulation || t.HeadSeq != uint64(len(w.books.Chain)) {
		w.t.Fatalf("after %s: %+v at %d, the model %+v at %d, %v", after, t.Circulation, t.HeadSeq, w.books.Circulation, len(w.books.Chain), err)
	}
}

// Whatever is done in whatever order, the books say what the simplest books say.
func TestTheBooksAreThoseOfTheModel(t *testing.T) {
	for seed := range uint64(3) {
		w := newTwin(t, seed)
		for i := range 120 {
			what, real, model := w.step()
			if real != model {
				t.Fatalf("seed %d, step %d, %s: %q, the model says %q", seed, i, what, real, model)
			}
			w.alike(fmt.Sprintf("step %d of seed %d, %s", i, seed, what))
		}
		w.balanced()
	}
}

// The same at once, at several processes: what was answered is what is booked.
func TestTheBooksAreWhatWasAnswered(t *testing.T) {
	w := newTwin(t, 99)
	if err := errors.Join(w.BookGrants(t.Context()), w.model.BookGrants(t.Context())); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(w.books.Balances)
	var mu sync.Mutex
	var wg sync.WaitGroup
	book := func(aid string, delta int64) {
		mu.Lock()
		defer mu.Unlock()
		want[aid] = uint64(int64(want[aid]) + delta)
	}
	for worker := range 6 {
		l, r := w.another(), rand.New(rand.NewPCG(uint64(worker), 3))
		wg.Go(func() {
			for range 20 {
				from, to, amount := w.members[r.IntN(4)], w.members[r.IntN(4)], 1+r.Uint64N(40)
				switch r.IntN(4) {
				case 0:
					if _, err := l.Grant(context.Background(), to.AID(), amount, audit.By{Who: "op", How: "test"}); err != nil {
						t.Error(err)
						return
					}
					book(to.AID(), int64(amount))
				case 1:
					p := ledgertest.Pay(from.Key, w.key.AID(), w.key.AID(), amount, w.clock.now())
					if _, err := l.Redeem(context.Background(), p.Payload(t), "ref", ""); err == nil {
						book(from.AID(), -int64(amount))
					} else if say(err) != "insufficient_funds" {
						t.Error(err)
					}
				default:
					p := ledgertest.Pay(from.Key, to.AID(), w.key.AID(), amount, w.clock.now())
					s, err := l.Settle(context.Background(), p.Request(t), "")
					if err != nil {
						t.Error(err)
					} else if s.Success {
						book(from.AID(), -int64(amount))
						book(to.AID(), int64(amount))
					}
				}
			}
		})
	}
	wg.Wait()
	for _, n := range w.members {
		if got := w.balance(n); got != want[n.AID()] {
			t.Errorf("%s has %d, and was told of %d", n.AID(), got, want[n.AID()])
		}
	}
	w.balanced()
}
