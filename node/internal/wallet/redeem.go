package wallet

import (
	"cmp"
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Redeem takes credits of this node out of circulation. They are signed away once
// for a reference: where it is not known what the hub did, the same call brings
// the same bytes again.
func (w *Wallet) Redeem(ctx context.Context, amount uint64, reference string) (journal.Redemption, error) {
	if !till.Built {
		return journal.Redemption{}, errNotBuilt()
	}
	if err := payment.CheckAmount(amount); err != nil {
		return journal.Redemption{}, err
	}
	if !payment.ValidReference(reference) {
		return journal.Redemption{}, errs.New(errs.Invalid, "reference_invalid", "a reference is one line of at most %d bytes", payment.MaxReference).In("reference")
	}
	r, err := w.order(ctx, amount, reference)
	if err != nil {
		return r, err
	}
	payload, err := payment.ParsePayload(r.Payload)
	if err != nil {
		return r, err
	}
	answer, err := w.Ledger.Redeem(ctx, wire.Redeem{X402Version: payment.X402Version, PaymentPayload: &payload, Reference: reference})
	if err != nil {
		return r, w.unredeemed(ctx, r, err)
	}
	if w.redeemed(payload, answer) != nil { // the hub may have moved to another key
		hub, _ := w.Ledger.Own()
		if _, err := w.Ledger.KEL(ctx, hub, true); err != nil {
			return r, err
		}
	}
	if err := w.redeemed(payload, answer); err != nil {
		return r, err
	}
	r.Receipt, r.Ended = answer.Receipt, w.Now()
	return r, w.Journal.Write(context.WithoutCancel(ctx), func(tx *journal.Tx) error { return tx.PutRedemption(r) })
}

// order signs a redemption, or finds the one of this reference that may have been
// taken.
func (w *Wallet) order(ctx context.Context, amount uint64, reference string) (r journal.Redemption, err error) {
	err = w.Journal.Write(ctx, func(tx *journal.Tx) error {
		found := false
		if r, found, err = tx.OpenRedemption(reference); err != nil {
			return err
		}
		if found && r.Amount != amount {
			return errs.New(errs.Conflict, "redemption_waits",
				"a redemption of %d credits with this reference was signed and the hub may have it: give the same amount to bring it again", r.Amount)
		}
		if found {
			return nil
		}
		if r, err = w.signRedemption(tx, amount, reference); err != nil {
			return err
		}
		return tx.PutRedemption(r)
	})
	return r, err
}

func (w *Wallet) signRedemption(tx *journal.Tx, amount uint64, reference string) (r journal.Redemption, err error) {
	hub, _ := w.Ledger.Own()
	a := payment.Authorization{
		Payer: w.Signer().AID(), PayTo: hub, Amount: amount, Network: w.Network(), Nonce: nonce(),
		Interaction: payment.RedemptionOf(reference),
	}.Issued(tx.Now())
	signed, id, err := payment.SignAuthorization(w.Signer(), a)
	if err != nil {
		return r, err
	}
	option := payment.NewOption(a.Network, hub, amount, payment.Window)
	r = journal.Redemption{AuthID: id, Amount: amount, Reference: reference, Created: tx.Now()}
	r.Payload, err = codec.MarshalJSON(payment.NewPayload(option, signed))
	return r, err
}

// unredeemed forgets a redemption that the hub refused: nothing left the account.
func (w *Wallet) unredeemed(ctx context.Context, r journal.Redemption, failed error) error {
	e := errs.As(failed)
	if e == nil || e.Kind != errs.Invalid {
		return failed // the hub may have it
	}
	err := w.Journal.Write(context.WithoutCancel(ctx), func(tx *journal.Tx) error { return tx.DropRedemption(r.AuthID) })
	if err != nil {
		return err
	}
	return errs.New(errs.Forbidden, e.Reason, "%s", cmp.Or(unredeemable[e.Reason], e.Message))
}

// unredeemable are the refusals that somebody at this node can do something about.
// A ledger speaks of payments, and a person asked for none.
var unredeemable = map[string]string{
	string(task.DuplicateBinding):  "credits were redeemed with this reference before, and none a second time; for more of them give another --reference",
	string(task.InsufficientFunds): "the account holds less than that: anet balance",
}

// redeemed checks the hub's receipt.
func (w *Wallet) redeemed(p payment.PaymentPayload, answer wire.Redemption) error {
	auth, err := p.Authorization()
	if err != nil {
		return err
	}
	receipt, err := payment.ParseReceipt(answer.Receipt)
	if err == nil && !receipt.Settles(auth) {
		err = errs.New(errs.BadGateway, "receipt_mismatch", "it is for something else")
	}
	_, kel := w.Ledger.Own()
	var h *identity.History
	if err == nil {
		h, err = identity.Replay(kel)
	}
	if err == nil {
		err = receipt.Verify(h)
	}
	if err != nil {
		return errs.New(errs.BadGateway, "receipt_not_verified",
			"the hub says that it took the credits, and shows no receipt that holds; run the same command again").Because(err)
	}
	return nil
}
