package wallet

import (
	"context"
	"slices"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// askPatience bounds one question to the ledger.
const askPatience = 15 * time.Second

// Resolve asks the ledger what became of authorizations that are of no use to anybody
// any more: those of which the provider has said nothing, and those of which it said
// that they failed. What moved is paid, what did not counts no more. It asks only what
// can move nothing: Verify, and Settle for what was settled.
func (w *Wallet) Resolve(ctx context.Context) error {
	if w.Ledger == nil {
		return nil
	}
	var open []journal.Spend
	err := w.Journal.Read(ctx, func(tx *journal.Tx) (err error) {
		open, err = tx.Lapsed(w.Network())
		return err
	})
	for _, s := range open {
		if err := w.resolve(ctx, s); err != nil {
			return err
		}
	}
	return err
}

func (w *Wallet) resolve(ctx context.Context, s journal.Spend) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var accepted payment.Requirements
	if err := codec.UnmarshalJSON(s.Accepted, &accepted); err != nil {
		return err
	}
	payload := payment.NewPayload(accepted, s.Signed)
	r := payment.FacilitatorRequest{X402Version: payment.X402Version, PaymentPayload: &payload, PaymentRequirements: &accepted}
	v, err := w.Ledger.Verify(ctx, r)
	switch {
	case err != nil:
		return err
	case v.IsValid:
		return nil // the ledger's clock is behind; it is asked again
	case v.InvalidReason == payment.DuplicateNonce:
		return w.fetch(ctx, s, r)
	case v.InvalidReason == payment.ExpiredPayment, v.InvalidReason == payment.InvalidSignature:
		return w.Journal.Write(ctx, func(tx *journal.Tx) error { return w.void(tx, s.AuthID, s.Task) })
	}
	return nil
}

// fetch gets the receipt of what was settled.
func (w *Wallet) fetch(ctx context.Context, s journal.Spend, r payment.FacilitatorRequest) error {
	answer, err := w.Ledger.Settle(ctx, r)
	if err != nil || !answer.Success {
		return err
	}
	if _, ok := w.proves(s, answer); !ok { // the hub may have moved to another key
		hub, _ := w.Ledger.Own()
		if _, err := w.Ledger.KEL(ctx, hub, true); err != nil {
			return err
		}
	}
	return w.Journal.Write(ctx, func(tx *journal.Tx) error {
		if err := w.proven(tx, s.Task, []payment.SettlementResponse{answer}); err != nil || s.State != journal.SpendFailed {
			return err
		}
		return denied(tx, s.Task)
	})
}

// denied says of a task that its provider was paid for it and did not want to know.
func denied(tx *journal.Tx, id string) error {
	paid, err := tx.Spends(id)
	if err != nil || !slices.ContainsFunc(paid, func(s journal.Spend) bool { return s.State == journal.SpendPaid }) {
		return err
	}
	k, found, err := tx.Task(id)
	if err != nil || !found || k.State.Terminal() {
		return err
	}
	k.Reason, k.Effect, k.Note = "", "", "The ledger moved the payment for this task, and the provider said that it failed. The receipt proves it."
	return tx.PutTask(&k)
}

// void ends an authorization that moved nothing and no longer can. A task that waited
// for it waits to be paid again.
func (w *Wallet) void(tx *journal.Tx, authID, id string) error {
	spends, err := tx.Spends(id)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(spends, func(s journal.Spend) bool { return s.AuthID == authID })
	if i < 0 || spends[i].State == journal.SpendPaid {
		return nil
	}
	s := spends[i]
	waited := s.State == journal.SpendOpen
	if s.State, s.Ended = journal.SpendVoid, tx.Now(); waited {
		s.Reason = payment.ExpiredPayment
	}
	if err := tx.PutSpend(s); err != nil || !waited {
		return err
	}
	return unpaidFor(tx, id)
}

func unpaidFor(tx *journal.Tx, id string) error {
	k, found, err := tx.Task(id)
	if err != nil || !found || k.State.Terminal() {
		return err
	}
	k.Reason, k.Effect = string(task.ExpiredPayment), string(effect.PaymentRequired)
	k.To(task.InputRequired, tx.Now())
	return tx.PutTask(&k)
}
