// Package wallet pays for what this node asks of others (wire 2, section K.6).
//
// The one rule: an authorization counts against the limits in the transaction
// that signs it, before anybody else can see it, and no second one is signed for
// a task while it is not certain that the first moved nothing. A task is shown as
// paid only once the ledger's receipt for this very authorization was verified.
package wallet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Ledger is where this node's credits are.
type Ledger interface {
	// Own is the hub that keeps the account, and its key history; empty without one.
	Own() (hub string, kel []byte)
	// KEL is the key history of a hub; fresh has Own know a newer one, too.
	KEL(ctx context.Context, hub string, fresh bool) ([]byte, error)
	// Verify and Settle ask what became of an authorization. An error is no answer.
	Verify(ctx context.Context, r payment.FacilitatorRequest) (payment.VerifyResponse, error)
	Settle(ctx context.Context, r payment.FacilitatorRequest) (payment.SettlementResponse, error)
	// Redeem burns credits. A failure of the kind Invalid says that it did not.
	Redeem(ctx context.Context, r wire.Redeem) (wire.Redemption, error)
}

// Parts is what a wallet works with. Without a Ledger nothing is paid.
type Parts struct {
	Journal *journal.Journal
	Signer  func() *identity.Controller
	Limits  func() config.Limits
	Ledger  Ledger
	// Price is what the provider's signed card says a capability costs; false when
	// this node has no such card.
	Price func(tx *journal.Tx, provider, capID string) (uint64, bool, error)
	// Say puts a message within a task on its way.
	Say func(tx *journal.Tx, k *journal.Task, meta map[string]any) error
	Log *slog.Logger
	Now func() time.Time
}

// Wallet pays.
type Wallet struct{ Parts }

// New makes a wallet.
func New(p Parts) *Wallet { return &Wallet{p} }

// Order says that the quote of a task is to be paid.
type Order struct {
	Tier Tier
	Most uint64 // 0 for no bound but the limits
	// Seen says that a person has seen this very quote. Otherwise one above the
	// provider's signed price is not paid.
	Seen bool
}

// Pay signs for the quote of a task and sends the payment.
func (w *Wallet) Pay(tx *journal.Tx, k *journal.Task, o Order) error {
	option, amount, err := w.payable(tx, k)
	if err != nil {
		return err
	}
	if err := w.allowed(tx, k, o, amount); err != nil {
		return err
	}
	signed, err := w.sign(tx, k, o, option, amount)
	if err != nil {
		return err
	}
	k.Reason, k.Note, k.Effect = "", "", ""
	k.To(task.Working, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return w.Say(tx, k, map[string]any{
		task.KeyPaymentStatus: payment.StatusSubmitted, task.KeyPaymentPayload: payment.NewPayload(option, signed),
	})
}

// payable finds the way to pay a task now.
func (w *Wallet) payable(tx *journal.Tx, k *journal.Task) (option payment.Requirements, amount uint64, err error) {
	q, found, err := tx.Quote(k.ID)
	if err != nil {
		return option, 0, err
	}
	switch {
	case !till.Built:
		return option, 0, errNotBuilt()
	case k.Role != journal.Requester:
		return option, 0, errs.New(errs.Conflict, "not_the_requester", "only who asked for a task pays for it")
	case !found:
		return option, 0, errs.New(errs.Conflict, string(task.NoPendingQuote), "nobody asked this node to pay for the task %s", k.ID)
	case !tx.Now().Before(q.Exp):
		return option, 0, errs.New(errs.Conflict, string(task.QuoteExpired), "the quote has expired; send the call again to get a new one")
	}
	if err := unpaid(tx, k.ID); err != nil {
		return option, 0, err
	}
	return w.choose(q, k.Peer)
}

// unpaid refuses a task for which something was signed that may have moved.
func unpaid(tx *journal.Tx, id string) error {
	spends, err := tx.Spends(id)
	if err != nil {
		return err
	}
	for _, s := range spends {
		switch s.State {
		case journal.SpendPaid:
			return errs.New(errs.Conflict, "already_paid", "the task %s is paid", id)
		case journal.SpendOpen:
			return errs.New(errs.Conflict, string(task.SettlementPending),
				"a payment for the task %s is under way and its outcome is not known; wait for it", id)
		}
	}
	return nil
}

// choose takes the first option that this node can pay.
func (w *Wallet) choose(q journal.Quote, provider string) (option payment.Requirements, amount uint64, err error) {
	required, err := payment.ParseRequired(q.Required)
	if err != nil {
		return option, 0, errs.New(errs.Forbidden, string(task.InvalidRequirements), "the quote cannot be read").Because(err)
	}
	option, amount, err = w.option(required)
	if err == nil && option.PayTo != provider {
		return option, 0, errs.New(errs.Forbidden, string(task.PayeeMismatch), "the quote asks to pay %.80q and not the provider; nothing was signed", option.PayTo)
	}
	return option, amount, err
}

// option is the one that pays on the own hub's ledger.
func (w *Wallet) option(required payment.PaymentRequired) (option payment.Requirements, amount uint64, err error) {
	option, ok := required.On(w.Network())
	if !ok {
		return option, 0, errs.New(errs.Forbidden, string(task.RailNotPayable), "%s", task.RailNotPayable.Sentence())
	}
	if amount, err = payment.ParseAmount(option.Amount); err != nil {
		return option, 0, errs.New(errs.Forbidden, string(task.InvalidAmount), "the quote asks for %.32q, which is no amount of credits", option.Amount)
	}
	return option, amount, nil
}

// Network is that of the own hub's ledger; of no hub it is empty, and matches nothing.
func (w *Wallet) Network() string {
	if w.Ledger == nil {
		return ""
	}
	hub, _ := w.Ledger.Own()
	if hub == "" {
		return ""
	}
	return payment.Network(hub)
}

// allowed holds a payment to what was agreed and to the limits.
func (w *Wallet) allowed(tx *journal.Tx, k *journal.Task, o Order, amount uint64) error {
	if o.Most > 0 && amount > o.Most {
		return over("the call costs %d credits, more than the %d agreed to", amount, o.Most)
	}
	if !o.Seen {
		price, known, err := w.Price(tx, k.Peer, k.Capability)
		if err != nil {
			return err
		}
		if known && amount > price {
			return errs.New(errs.Forbidden, string(task.QuoteAbovePrice),
				"the quote is %d credits and the provider's signed price %d; to pay it all the same: anet pay %s", amount, price, k.ID)
		}
	}
	today, err := w.Today(tx, o.Tier)
	if err != nil {
		return err
	}
	return Decide(w.Limits(), Wish{o.Tier, k.Peer, amount}, today)
}

// sign reserves the amount and signs for it, bound to the task: of all that is
// ever signed for it the ledger moves one.
func (w *Wallet) sign(tx *journal.Tx, k *journal.Task, o Order, option payment.Requirements, amount uint64) (signed []byte, err error) {
	doc, err := task.ParseTaskDoc(k.Doc)
	if err != nil {
		return nil, err
	}
	s, err := w.reserve(tx, option, amount, o.Tier, k.ID, payment.Binding(k.ID, doc.Nonce()))
	return s.Signed, err
}

// nonce has the form of the reference's.
func nonce() string {
	b := make([]byte, 12)
	rand.Read(b) // never fails: it ends the program rather than return less
	return hex.EncodeToString(b)
}

// Decline tells the provider that its quote is not going to be paid, and ends the
// task.
func (w *Wallet) Decline(tx *journal.Tx, k *journal.Task) error {
	k.CancelRequested, k.Effect = true, string(effect.Unavailable)
	k.To(task.Canceled, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return w.Say(tx, k, map[string]any{task.KeyPaymentStatus: payment.StatusRejected})
}

// Awaits reports whether the task waits for this node to pay, and for nothing
// else.
func (w *Wallet) Awaits(tx *journal.Tx, k *journal.Task) (bool, error) {
	_, quoted, err := tx.Quote(k.ID)
	if err != nil || !quoted || k.State != task.InputRequired {
		return false, err
	}
	paying, err := w.Paying(tx, k.ID)
	return !paying, err
}

// Paying reports whether something was signed for the task that moved or may
// have.
func (w *Wallet) Paying(tx *journal.Tx, id string) (bool, error) {
	spends, err := tx.Spends(id)
	for _, s := range spends {
		if s.State == journal.SpendOpen || s.State == journal.SpendPaid {
			return true, err
		}
	}
	return false, err
}

// Today is what was spent today, on the word of a tier and in all.
func (w *Wallet) Today(tx *journal.Tx, tier Tier) (s Spent, err error) {
	since := tx.Now().Truncate(24 * time.Hour)
	if s.All, err = tx.Spent(since, ""); err != nil {
		return s, err
	}
	s.Tier, err = tx.Spent(since, string(tier))
	return s, err
}
