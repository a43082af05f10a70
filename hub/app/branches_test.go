package app

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
)

var byTester = audit.By{Who: "tester", How: "test"}

// branches are two hubs that clear with each other: alice has her credits at a, and
// bob sells at b.
type branches struct {
	a, b       *town
	alice, bob *directorytest.Node
}

func newBranches(t *testing.T, limit uint64) *branches {
	a, b := friends(t)
	return clearing(t, a, b, limit)
}

func clearing(t *testing.T, a, b *town, limit uint64) *branches {
	t.Helper()
	for from, to := range map[*town]*town{a: b, b: a} {
		if err := from.desk().Credits.Allow(t.Context(), to.hub, true, limit, byTester); err != nil {
			t.Fatal(err)
		}
	}
	w := &branches{a: a, b: b, alice: a.joined("alice"), bob: b.joined("bob")}
	a.granted(w.alice)
	b.granted(w.bob)
	return w
}

// pays is a payment on the ledger of a.
func (w *branches) pays(amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(w.alice.Key, w.bob.AID(), w.a.hub, amount, time.Now())
}

// settle brings a payment to b, where its payee is.
func (w *branches) settle(p *ledgertest.Payment) map[string]any {
	w.b.t.Helper()
	return w.b.post("200", "/x402/settle", p.Request(w.b.t)).body
}

func (v *visitor) credits(n *directorytest.Node) float64 {
	v.t.Helper()
	return v.call("200", n, "/agents/"+n.AID()+"/balance", "").body["credits"].(float64)
}

// balanced audits the books of a hub, and gives what it and its peer owe each other.
func (h *town) balanced(peer string) (owed, due uint64) {
	h.t.Helper()
	op := h.desk()
	r, err := op.Credits.Audit(h.t.Context())
	if err != nil || len(r.Wrong) > 0 {
		h.t.Fatalf("the books: %v, %v", r.Wrong, err)
	}
	debts, err := op.Credits.Debts(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, d := range debts {
		if d.Hub == peer {
			return d.Owed, d.Due
		}
	}
	return 0, 0
}

// even checks that both hubs hold the same debt for one.
func (w *branches) even(want uint64) {
	w.a.t.Helper()
	_, due := w.a.balanced(w.b.hub)
	owed, _ := w.b.balanced(w.a.hub)
	if due != want || owed != want {
		w.a.t.Errorf("a owes %d by its own books and %d by those of b, want %d", due, owed, want)
	}
}

func (h *town) setLimit(peer string, most uint64) {
	h.t.Helper()
	if err := h.desk().Credits.Allow(h.t.Context(), peer, true, most, byTester); err != nil {
		h.t.Fatal(err)
	}
}
