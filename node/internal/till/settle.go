package till

import (
	"cmp"
	"context"
	"errors"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// settle asks the ledger once; done when it has said what became of the payment.
func (t *Till) settle(ctx context.Context, id string) (done bool, err error) {
	var s journal.Sale
	var found bool
	err = t.Journal.Read(ctx, func(tx *journal.Tx) (err error) { s, found, err = tx.Sale(id); return err })
	if err != nil || !found || s.Paid() {
		return err == nil, err
	}
	answer, unknown := t.ask(ctx, s)
	if ctx.Err() != nil {
		return false, nil
	}
	err = t.Journal.Write(ctx, func(tx *journal.Tx) error { return t.record(tx, id, answer, unknown) })
	return unknown == nil, err
}

// ask brings the payment. The error is why its outcome is not known.
func (t *Till) ask(ctx context.Context, s journal.Sale) (answer payment.SettlementResponse, unknown error) {
	request, err := requestOf(s)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err = t.Ledger.Settle(ctx, request)
	if e := errs.As(err); e != nil && e.Kind == errs.Invalid && task.Reason(e.Reason).Known() {
		answer, err = payment.SettlementResponse{ErrorReason: e.Reason, Network: s.Network}, nil
	}
	answer.Transaction = cmp.Or(answer.Transaction, s.AuthID) // a request that is refused as such names none
	switch {
	case err != nil:
		return answer, err
	case answer.Success:
		return answer, t.holds(ctx, request, answer)
	case answer.ErrorReason == "" || answer.ErrorReason == payment.SettlementPending:
		return answer, errors.New("the ledger does not know the outcome yet")
	}
	return answer, nil
}

func requestOf(s journal.Sale) (payment.FacilitatorRequest, error) {
	r := payment.FacilitatorRequest{X402Version: payment.X402Version}
	if err := codec.UnmarshalJSON(s.Payload, &r.PaymentPayload); err != nil {
		return r, err
	}
	return r, codec.UnmarshalJSON(s.Wanted, &r.PaymentRequirements)
}

// holds checks the receipt of a settlement: without one that holds, this node
// could prove nothing of having been paid.
func (t *Till) holds(ctx context.Context, r payment.FacilitatorRequest, answer payment.SettlementResponse) error {
	auth, err := r.PaymentPayload.Authorization()
	if err != nil {
		return err
	}
	receipt, shown, err := answer.Receipt()
	if err != nil || !shown {
		return errors.Join(errors.New("the ledger shows no receipt"), err)
	}
	if !receipt.Settles(auth) {
		return errors.New("the ledger's receipt is for another payment")
	}
	if t.signed(ctx, receipt, false) == nil {
		return nil
	}
	return t.signed(ctx, receipt, true)
}

// signed checks the signature of the hub that the network names.
func (t *Till) signed(ctx context.Context, r payment.SignedReceipt, fresh bool) error {
	hub, _ := payment.HubOf(r.Network)
	kel, err := t.Ledger.KEL(ctx, hub, fresh)
	if err != nil {
		return err
	}
	h, err := identity.Replay(kel)
	if err != nil || h.AID() != hub {
		return errors.Join(errors.New("the ledger's key history is not its own"), err)
	}
	return r.Verify(h)
}
