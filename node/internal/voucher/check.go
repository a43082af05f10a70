package voucher

import (
	"context"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Mismatch is the reason of a voucher that is not what was paid for.
const Mismatch = "voucher_mismatch"

// Check holds what a gateway sold to what was paid for it, and says of the hub's
// receipt whether it is verified, unverified, or unknown where there is none.
func (h Hub) Check(ctx context.Context, k *Kept, s Sold) (v Voucher, receipt string, err error) {
	p, err := payment.ParsePayloadHeader(k.Payment)
	if err != nil {
		return v, "", err
	}
	auth, err := p.Authorization()
	if err != nil {
		return v, "", err
	}
	v = Voucher{Raw: s.Voucher, RedeemAt: s.RedeemAt}
	if err := v.parse(); err != nil {
		return v, "", mismatch(err)
	}
	if v.AuthID != auth.ID() || v.Payer != auth.Payer || v.PayTo != auth.PayTo || v.Amount != auth.Amount || v.Network != auth.Network ||
		v.PayTo != k.Seller || v.Capability != k.Capability {
		return v, "", mismatch(nil)
	}
	if err := h.Verify(ctx, v); errs.Is(err, "voucher_forged") {
		return v, "", mismatch(err)
	} else if err != nil {
		return v, "", pending(err) // nobody could be asked for the keys
	}
	return v, h.receipt(ctx, auth, s.Settlement), nil
}

func mismatch(cause error) error {
	return errs.New(errs.BadGateway, Mismatch, "the gateway has the payment, and what it gives for it is no voucher for this call").Because(cause)
}

// receipt says what the hub's receipt in a settlement is worth.
func (h Hub) receipt(ctx context.Context, auth payment.SignedAuthorization, s payment.SettlementResponse) string {
	r, shown, err := s.Receipt()
	if !shown && err == nil {
		return "unknown"
	}
	hub, ok := payment.HubOf(auth.Network)
	if err != nil || !ok || !r.Settles(auth) {
		return "unverified"
	}
	if h.under(ctx, hub, func(k *identity.History) error { return r.Verify(k) }, func(err error) error { return err }) != nil {
		return "unverified"
	}
	return "verified"
}
