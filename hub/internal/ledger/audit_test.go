package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
)

// junk are books in which no payment and no link holds.
type junk struct {
	n    int64
	gone error // after the last settlement
}

func (j junk) Totals(context.Context) (ledger.Totals, error) { return ledger.Totals{}, nil }
func (j junk) Sums(context.Context) ([]string, error)        { return nil, nil }

func (j junk) EachLink(_ context.Context, see func(ledger.Link) error) (err error) {
	for i := int64(1); i <= j.n && err == nil; i++ {
		err = see(ledger.Link{Seq: uint64(i)})
	}
	return err
}

func (j junk) EachSettlement(_ context.Context, see func(ledger.Settlement, []byte) error) error {
	for i := range j.n {
		if err := see(ledger.Settlement{AuthID: fmt.Sprint(i)}, nil); err != nil {
			return err
		}
	}
	return j.gone
}

func (j junk) EachPeerPayment(context.Context, func(ledger.PeerPayment, []byte) error) error {
	return nil
}

func (j junk) EachDischarge(context.Context, func(ledger.Discharge, bool, []byte) error) error {
	return nil
}

// Checks go on side by side, and what is told of them is the same each time: the first
// few of a kind, in their order.
func TestAnAuditTellsTheFirstOfEachKind(t *testing.T) {
	hub := testkit.Agent(t, 1).History()
	for range 20 {
		r, err := ledger.Examine(t.Context(), hub, identity.Replay, junk{n: 500})
		if err != nil || r.Settlements != 500 || r.Links != 500 {
			t.Fatalf("%d payments, %d links, %v", r.Settlements, r.Links, err)
		}
		for i := range 5 {
			link, paid := fmt.Sprintf("link %d of the chain does not hold: ", i+1), fmt.Sprintf("settlement %d does not hold: ", i)
			if !strings.HasPrefix(r.Wrong[i], link) || !strings.HasPrefix(r.Wrong[len(r.Wrong)-5+i], paid) {
				t.Fatalf("it tells\n%q, want %q and %q in their places", r.Wrong, link, paid)
			}
		}
	}
}

// Books that cannot be read to their end are not audited.
func TestAnAuditThatIsCutOffFails(t *testing.T) {
	cut := errors.New("the connection is gone")
	if _, err := ledger.Examine(t.Context(), testkit.Agent(t, 1).History(), identity.Replay, junk{n: 500, gone: cut}); !errors.Is(err, cut) {
		t.Errorf("%v, want %v", err, cut)
	}
}
