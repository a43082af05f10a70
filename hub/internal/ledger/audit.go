package ledger

import (
	"context"
	"fmt"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/identity"
)

// Books are read as a whole, of one moment, for an audit.
type Books interface {
	// Audit shows a reader the books as they are at one moment.
	Audit(ctx context.Context, read func(Reader) error) error
	// Reopen lets credits move again, and writes the act down.
	Reopen(ctx context.Context, act audit.Act) error
}

// Reader reads the books of one moment.
type Reader interface {
	// Totals is what the ledger counts, beside the sum of all balances.
	Totals(ctx context.Context) (Totals, error)
	// Sums names accounts, settlements, redemptions and links that are not what
	// their lines sum up to, a few of each kind.
	Sums(ctx context.Context) (wrong []string, err error)
	// EachLink gives the chain in its order.
	EachLink(ctx context.Context, see func(Link) error) error
	// EachSettlement gives every settlement with the key history of its payer, nil
	// for one nobody knows.
	EachSettlement(ctx context.Context, see func(s Settlement, payer []byte) error) error
	// EachPeerPayment gives every payment of another ledger that was credited here, with
	// the key history of that ledger's hub, nil for one that is no proven peer now.
	EachPeerPayment(ctx context.Context, see func(p PeerPayment, hub []byte) error) error
	// EachDischarge gives every statement that counts: ours, and those of other hubs with
	// their key histories, as above.
	EachDischarge(ctx context.Context, see func(d Discharge, ours bool, hub []byte) error) error
}

// Report is what an audit found.
type Report struct {
	Supply
	Accounts, Settlements int64
	Links                 uint64
	Wrong                 []string
}

// Audit recomputes everything that can be: balances from their lines, the supply,
// the signed chain, and who signed every payment and its receipt.
func (l *Ledger) Audit(ctx context.Context) (Report, error) {
	return l.AuditTelling(ctx, func(string, int64) {})
}

// Tell is told how far an audit is: how many of what it has looked at.
type Tell func(what string, n int64)

// AuditTelling is an audit that somebody waits for.
func (l *Ledger) AuditTelling(ctx context.Context, tell Tell) (r Report, err error) {
	hub, err := l.hub()
	if err != nil {
		return r, err
	}
	err = l.Store.Audit(ctx, func(books Reader) error {
		a := auditor{hub: hub.History(), replay: l.Replay, books: books, tell: tell}
		r, err = a.audit(ctx)
		return err
	})
	return r, err
}

// Reopen ends the time that a restored ledger is read only, on the strength of an
// audit that found nothing.
func (l *Ledger) Reopen(ctx context.Context, by audit.By) error {
	return l.Store.Reopen(ctx, by.Did("credit.reopen", "", l.now()))
}

// Examine audits books that no process serves from.
func Examine(ctx context.Context, hub *identity.History, replay func([]byte) (*identity.History, error), books Reader) (Report, error) {
	return auditor{hub: hub, replay: replay, books: books, tell: func(string, int64) {}}.audit(ctx)
}

type auditor struct {
	hub    *identity.History
	replay func([]byte) (*identity.History, error)
	books  Reader
	tell   Tell
}

func (a auditor) audit(ctx context.Context) (r Report, err error) {
	totals, err := a.books.Totals(ctx)
	if err != nil {
		return r, err
	}
	r.Supply = Supply{totals}
	a.tell("sums", 0)
	if r.Wrong, err = a.books.Sums(ctx); err != nil {
		return r, err
	}
	if !r.Agrees() {
		r.find("accounts hold %d credits, and %d are in circulation", r.Balances, r.Chain())
	}
	if err := a.chain(ctx, &r); err != nil {
		return r, err
	}
	if err := a.settlements(ctx, &r); err != nil {
		return r, err
	}
	if err := a.peerPayments(ctx, &r); err != nil {
		return r, err
	}
	return r, a.discharges(ctx, &r)
}

func (r *Report) find(format string, args ...any) {
	r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
}
