package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/payment"
)

// settlements verifies what payers signed, and the hub's receipts.
func (a auditor) settlements(ctx context.Context, r *Report) error {
	return r.checking(func(begin begin) error {
		return a.books.EachSettlement(ctx, func(s Settlement, payer []byte) error {
			r.Settlements++
			a.tell("payments", r.Settlements)
			begin("settlement "+s.AuthID, func() error { return a.settlement(s, payer) })
			return nil
		})
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
	return r.checking(func(begin begin) error {
		return a.books.EachPeerPayment(ctx, func(p PeerPayment, hub []byte) error {
			r.Settlements++
			a.tell("payments", r.Settlements)
			begin("the payment "+p.AuthID+" on another ledger", func() error { return a.peerPayment(p, hub) })
			return nil
		})
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
	return r.checking(func(begin begin) error {
		return a.books.EachDischarge(ctx, func(d Discharge, ours bool, hub []byte) error {
			from, to := d.Hub, a.hub.AID()
			if ours {
				from, to, hub = to, from, a.hub.Raw()
			}
			begin("statement "+d.AuthID, func() error { return a.discharge(d, from, to, hub) })
			return nil
		})
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
