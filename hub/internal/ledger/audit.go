package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
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

// maxFindings is how many of one kind are told.
const maxFindings = 5

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

// chain verifies every link against the one before, and what all come to.
func (a auditor) chain(ctx context.Context, r *Report) error {
	head, sum, found := evidence.Head{Chain: a.hub.AID()}, Circulation{}, 0
	err := a.books.EachLink(ctx, func(k Link) error {
		var broken error
		if head, broken = a.link(head, k); broken != nil && found < maxFindings {
			found++
			r.find("link %d of the chain does not hold: %v", k.Seq, broken)
		}
		r.Links++
		a.tell("links", int64(r.Links))
		sum, broken = sum.Add([]Issue{k.Issue})
		return broken
	})
	if err != nil {
		return err
	}
	if sum != r.Circulation {
		r.find("the chain comes to %d issued and %d retired, and the ledger counts %d and %d", sum.Issued, sum.Retired, r.Issued, r.Retired)
	}
	if head.Seq != r.HeadSeq || head.ID != r.HeadID {
		r.find("the chain ends at %d %s, and the ledger says %d %s", head.Seq, head.ID, r.HeadSeq, r.HeadID)
	}
	return nil
}

// link goes on behind a broken link as if it had held, so that one is one finding.
func (a auditor) link(head evidence.Head, k Link) (evidence.Head, error) {
	next := evidence.Head{Chain: a.hub.AID(), Seq: k.Seq, ID: k.ID}
	rec, err := evidence.ParseRecord(k.Record)
	if err != nil {
		return next, err
	}
	if _, err := evidence.VerifyChain(head, []evidence.Record{rec}, a.history); err != nil {
		return next, err
	}
	said, err := issueOf(rec)
	switch {
	case err != nil:
		return next, err
	case rec.Chain != a.hub.AID(), rec.Signer != a.hub.AID():
		return next, errors.New("it is of another hub's chain")
	case rec.ID != k.ID, rec.Seq != k.Seq, !said.same(k.Issue):
		return next, errors.New("it is filed as another one")
	}
	return next, nil
}

func (a auditor) history(aid string) (*identity.History, error) {
	if aid != a.hub.AID() {
		return nil, errors.New("signed by another agent than this hub")
	}
	return a.hub, nil
}

// settlements verifies what payers signed, and the hub's receipts.
func (a auditor) settlements(ctx context.Context, r *Report) error {
	found := 0
	return a.books.EachSettlement(ctx, func(s Settlement, payer []byte) error {
		r.Settlements++
		a.tell("payments", r.Settlements)
		if err := a.settlement(s, payer); err != nil && found < maxFindings {
			found++
			r.find("settlement %s does not hold: %v", s.AuthID, err)
		}
		return nil
	})
}

func (a auditor) settlement(s Settlement, payer []byte) error {
	auth, err := payment.ParseAuthorization(s.Signed)
	if err != nil {
		return err
	}
	receipt, err := payment.ParseReceipt(s.Receipt)
	if err != nil {
		return err
	}
	if auth.ID() != s.AuthID || auth.Payer != s.Payer || auth.PayTo != s.PayTo || auth.Amount != s.Amount || auth.Interaction != s.Interaction {
		return errors.New("it is filed as another one")
	}
	if !receipt.Settles(auth) || receipt.SettleAt != millis(s.At) {
		return errors.New("its receipt is of another payment")
	}
	if err := receipt.Verify(a.hub); err != nil {
		return fmt.Errorf("its receipt: %w", err)
	}
	if err := a.voucher(s); err != nil {
		return fmt.Errorf("its voucher: %w", err)
	}
	h, err := a.replay(payer)
	if err != nil {
		return fmt.Errorf("its payer: %w", err)
	}
	return auth.Genuine(h)
}

// voucher holds what was bought to what was given for it.
func (a auditor) voucher(s Settlement) error {
	if s.Capability == "" {
		return nil
	}
	v, err := payment.ParseVoucher(s.Voucher)
	if err != nil {
		return err
	}
	if v.AuthID != s.AuthID || v.Payer != s.Payer || v.PayTo != s.PayTo || v.Capability != s.Capability || v.Amount != s.Amount {
		return errors.New("it is for something else")
	}
	return v.Verify(a.hub)
}

// peerPayments holds what was credited on the word of other hubs to that word, as far
// as their keys are known.
func (a auditor) peerPayments(ctx context.Context, r *Report) error {
	found := 0
	return a.books.EachPeerPayment(ctx, func(p PeerPayment, hub []byte) error {
		r.Settlements++
		a.tell("payments", r.Settlements)
		if err := a.peerPayment(p, hub); err != nil && found < maxFindings {
			found++
			r.find("the payment %s on another ledger does not hold: %v", p.AuthID, err)
		}
		return nil
	})
}

func (a auditor) peerPayment(p PeerPayment, hub []byte) error {
	auth, err := payment.ParseAuthorization(p.Signed)
	if err != nil {
		return err
	}
	receipt, err := payment.ParseReceipt(p.Receipt)
	if err != nil {
		return err
	}
	switch {
	case auth.ID() != p.AuthID || auth.Payer != p.Payer || auth.PayTo != p.PayTo || auth.Amount != p.Amount || auth.Network != payment.Network(p.Hub):
		return errors.New("it is filed as another one")
	case !receipt.Settles(auth) || receipt.Env.Signer != p.Hub:
		return errors.New("its receipt is of another payment")
	}
	return a.signed(receipt, hub)
}

// signed checks whose receipt it is. What a peer did with its keys since, and as of
// when it says that it did, changes nothing.
func (a auditor) signed(r payment.SignedReceipt, kel []byte) error {
	if kel == nil {
		return nil
	}
	h, err := a.replay(kel)
	if err == nil {
		err = r.Genuine(h)
	}
	if err != nil {
		return fmt.Errorf("its receipt: %w", err)
	}
	return nil
}

// discharges holds what debts were paid off to what was stated.
func (a auditor) discharges(ctx context.Context, r *Report) error {
	found := 0
	return a.books.EachDischarge(ctx, func(d Discharge, ours bool, hub []byte) error {
		from, to := d.Hub, a.hub.AID()
		if ours {
			from, to, hub = to, from, a.hub.Raw()
		}
		if err := a.discharge(d, from, to, hub); err != nil && found < maxFindings {
			found++
			r.find("statement %s does not hold: %v", d.AuthID, err)
		}
		return nil
	})
}

func (a auditor) discharge(d Discharge, from, to string, kel []byte) error {
	r, err := payment.ParseReceipt(d.Receipt)
	if err != nil {
		return err
	}
	if r.AuthID != d.AuthID || r.Amount != d.Amount || r.Payer != from || r.PayTo != to || r.Env.Signer != from {
		return errors.New("it is filed as another one")
	}
	return a.signed(r, kel)
}
