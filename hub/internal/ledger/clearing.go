package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Debt is how this hub and a peer stand (wire 2, J.6). Taking payments on another
// hub's ledger is giving that hub credit: an operator says whose, and how much.
type Debt struct {
	Hub  string
	Open bool   // payments across are taken
	Most uint64 // it may owe this hub
	Owed uint64 // by it, to this hub
	Due  uint64 // by this hub, to it
}

// Discharge is a hub's statement that it paid off a part of what it owes.
type Discharge struct {
	AuthID  string
	Hub     string // the other one
	Amount  uint64
	Receipt []byte
	At      time.Time
}

// Clearing keeps debts between hubs.
type Clearing interface {
	// Debts gives every hub there is or was something with.
	Debts(ctx context.Context) ([]Debt, error)
	// Allow opens or closes the payments across with a hub; what is owed stays owed.
	Allow(ctx context.Context, d Debt, act audit.Act) error

	// SettleAbroad is Settle for an agent of the hub DueTo: the credits leave
	// circulation here and are owed to that hub.
	SettleAbroad(ctx context.Context, s Settlement, seal Seal) (kept Settlement, fresh bool, err error)
	// PaymentOf gives a payment of another ledger that was credited here, nil for none.
	PaymentOf(ctx context.Context, authID string) (*PeerPayment, error)
	// Credit credits one, once, and writes down what its ledger owes. One with which that
	// would be more than it may owe fails with AtLimit.
	Credit(ctx context.Context, p PeerPayment, seal Seal) error

	// Receive takes a statement of another hub, once, and tells what it still owes.
	// One beyond the debt is Invalid, reason wire.MoreThanOwed.
	Receive(ctx context.Context, d Discharge) (owed uint64, err error)
	// Prepare writes down a statement to another hub. Where one is under way it gives
	// that: the other hub may have taken it. One beyond the debt is Invalid, reason
	// more_than_due.
	Prepare(ctx context.Context, d Discharge) (Discharge, error)
	// Withdraw forgets a statement that the other hub did not take.
	Withdraw(ctx context.Context, d Discharge) error
	// Discharged counts a statement that the other hub took, also a withdrawn one.
	Discharged(ctx context.Context, d Discharge, act audit.Act) (due uint64, err error)
}

// PeerPayment is a payment on another hub's ledger to an agent of this one.
type PeerPayment struct {
	AuthID, Hub, Payer, PayTo string
	Amount                    uint64
	Signed, Receipt, Answer   []byte
	At                        time.Time
}

// Reasons of links and entries of payments across hubs.
const (
	ReasonFromPeer = "payment from another hub"
	ReasonToPeer   = "payment to another hub"
)

// debt is how this hub stands with a peer that is known for who it is; zero where
// there never was anything between them.
func (l *Ledger) debt(ctx context.Context, hub string) (Debt, error) {
	if _, proven := l.Peers.History(hub); !proven {
		return Debt{}, nil
	}
	return l.Debt(ctx, hub)
}

// Debt is how this hub stands with another; zero where there never was anything.
func (l *Ledger) Debt(ctx context.Context, hub string) (Debt, error) {
	all, err := l.Store.Debts(ctx)
	for _, d := range all {
		if d.Hub == hub {
			return d, err
		}
	}
	return Debt{}, err
}

// Clears are the peers that payments are taken across with, in table order.
func (l *Ledger) Clears(ctx context.Context) (open []Debt, err error) {
	all := l.Peers.All()
	if len(all) == 0 {
		return nil, nil
	}
	debts, err := l.Store.Debts(ctx)
	for _, aid := range all {
		for _, d := range debts {
			if _, proven := l.Peers.History(aid); d.Hub == aid && d.Open && proven {
				open = append(open, d)
			}
		}
	}
	return open, err
}

// Allow lets a peer owe this hub credits, up to as many, and ends that.
func (l *Ledger) Allow(ctx context.Context, hub string, open bool, most uint64, by audit.By) error {
	if most > payment.MaxAmount {
		return errs.New(errs.Invalid, "limit_invalid", "a limit is at most %d credits", uint64(payment.MaxAmount)).In("limit")
	}
	what := "credit.allow"
	if !open {
		what = "credit.disallow"
	}
	return l.Store.Allow(ctx, Debt{Hub: hub, Open: open, Most: most}, by.Did(what, hub, l.now()).With("limit", most))
}

// Debts gives all of them.
func (l *Ledger) Debts(ctx context.Context) ([]Debt, error) { return l.Store.Debts(ctx) }

// TakeDischarge takes a peer's statement (wire 2, J.6).
func (l *Ledger) TakeDischarge(ctx context.Context, from string, signed []byte) (owed uint64, err error) {
	hub, err := l.hub()
	if err != nil {
		return 0, err
	}
	h, ok := l.Peers.History(from)
	if !ok {
		return 0, errs.New(errs.Forbidden, "peer_unknown", "this hub has no such peer").In("peer_aid")
	}
	r, err := payment.ParseReceipt(signed)
	if err != nil || len(signed) > MaxAuthorization {
		return 0, badDischarge("it is no signed receipt").Because(err)
	}
	if no := discharges(r, from, hub.AID(), h); no != nil {
		return 0, no
	}
	return l.Store.Receive(ctx, Discharge{AuthID: r.AuthID, Hub: from, Amount: r.Amount, Receipt: signed, At: l.now()})
}

func discharges(r payment.SignedReceipt, from, to string, h *identity.History) error {
	switch {
	case r.Payer != from || r.PayTo != to || r.Network != payment.Network(from):
		return badDischarge("it is no statement of that hub to this one")
	case r.AuthID == "" || !printable(r.AuthID, maxStatement):
		return badDischarge("its id cannot be kept")
	}
	if err := r.Verify(h); err != nil {
		return badDischarge("its signature does not verify").Because(err)
	}
	return nil
}

const maxStatement = 512 // bytes of the id of a statement

func badDischarge(why string) *errs.Error {
	return errs.New(errs.Invalid, "receipt_invalid", "the statement does not count: %s", why).In("receipt")
}

var validReference = regexp.MustCompile(`^[A-Za-z0-9._-]{0,64}$`)

// Statable reports whether this hub could state to a peer that it paid so much, so that
// nobody is asked to agree to what is refused then.
func (l *Ledger) Statable(ctx context.Context, peer string, amount uint64, reference string) error {
	if err := payment.CheckAmount(amount); err != nil {
		return err
	}
	if !validReference.MatchString(reference) {
		return errs.New(errs.Invalid, "reference_invalid", "a reference has up to 64 letters, digits, dots, - and _").In("reference")
	}
	d, err := l.Debt(ctx, peer)
	if err == nil && amount > d.Due {
		err = MoreThanDue(d.Due)
	}
	return err
}

// MoreThanDue is the failure of a statement beyond what this hub owes.
func MoreThanDue(due uint64) error {
	return errs.New(errs.Invalid, "more_than_due", "this hub owes that one %d credits; it is the hub that owes that states what it paid: anet-hub credit due", due).In("amount")
}

// Clear states to a peer that a part of what this hub owes it was paid off, and
// tells what is still due. One that was under way is brought to its end instead, as
// long as it is of the same amount.
func (l *Ledger) Clear(ctx context.Context, peer string, amount uint64, reference string, by audit.By) (due uint64, err error) {
	hub, err := l.hub()
	if err != nil {
		return 0, err
	}
	if err := l.Statable(ctx, peer, amount, reference); err != nil {
		return 0, err
	}
	d, err := l.statement(hub, peer, amount, reference)
	if err != nil {
		return 0, err
	}
	if d, err = l.Store.Prepare(ctx, d); err != nil {
		return 0, err
	}
	if d.Amount != amount {
		return 0, errs.New(errs.Conflict, "discharge_under_way", "a statement over %d credits is under way: clear that amount first", d.Amount)
	}
	if err := l.Peers.Clear(ctx, peer, hub.AID(), d.Receipt); err != nil {
		return 0, l.uncleared(ctx, d, err)
	}
	return l.Store.Discharged(ctx, d, by.Did("credit.clear", peer, l.now()).With("amount", amount).With("statement", d.AuthID))
}

// uncleared makes room for another statement where this one was not taken. A hub that
// had taken it before would not say that it is owed less; and after any other failure
// it may have.
func (l *Ledger) uncleared(ctx context.Context, d Discharge, failed error) error {
	if !errs.Is(failed, wire.MoreThanOwed) {
		return failed
	}
	if err := l.Store.Withdraw(ctx, d); err != nil {
		return err
	}
	return errs.New(errs.Conflict, wire.MoreThanOwed, "the peer says that it is owed less than %d credits, and took no statement; "+
		"a payment whose payee has not brought it again since its answer was lost is owed at this hub alone: compare with its operator what credit due shows, "+
		"and clear what both show", d.Amount)
}

func (l *Ledger) statement(hub *identity.Controller, peer string, amount uint64, reference string) (d Discharge, err error) {
	var nonce [8]byte
	rand.Read(nonce[:])
	at := l.now()
	d = Discharge{Hub: peer, Amount: amount, At: at,
		AuthID: fmt.Sprintf("clear:%s:%s:%d:%d:%s", peer, reference, amount, at.UnixMilli(), hex.EncodeToString(nonce[:]))}
	d.Receipt, _, err = payment.SignReceipt(hub, payment.Receipt{AuthID: d.AuthID, Payer: hub.AID(), PayTo: peer, Amount: amount,
		Network: payment.Network(hub.AID()), SettleAt: millis(at)})
	return d, err
}
