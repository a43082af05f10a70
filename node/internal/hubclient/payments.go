package hubclient

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Supported asks on which networks the hub settles (wire 2, K.2). A hub without a
// ledger supports nothing.
func (c *Client) Supported(ctx context.Context) (out payment.Supported, err error) {
	a, err := c.exchange(ctx, get("/x402/supported", nil))
	if err != nil || routeUnknown(a) || a.status == http.StatusNotFound {
		return out, err
	}
	if a, err = c.good(a); err != nil {
		return out, err
	}
	return out, decode(a, "/x402/supported", &out)
}

// Verify asks what a ledger thinks of a payment. It moves nothing.
func (c *Client) Verify(ctx context.Context, r payment.FacilitatorRequest) (out payment.VerifyResponse, err error) {
	return out, c.call(ctx, post("/x402/verify", "", r), &out)
}

// Settle brings a payment to the ledger. A request that the ledger calls wrong has
// its answer, too; any other failure leaves open what it did.
func (c *Client) Settle(ctx context.Context, r payment.FacilitatorRequest) (out payment.SettlementResponse, err error) {
	a, err := c.exchange(ctx, post("/x402/settle", "", r))
	if err != nil {
		return out, err
	}
	if a.status == http.StatusBadRequest && codec.UnmarshalJSON(a.body, &out) == nil && task.Reason(out.ErrorReason).Known() {
		out.Success = false
		return out, nil
	}
	if a, err = c.good(a); err != nil {
		return out, err
	}
	return out, decode(a, "/x402/settle", &out)
}

// Balance asks for this node's own.
func (c *Client) Balance(ctx context.Context) (out wire.Balance, err error) {
	r := get(c.own("balance"), nil)
	r.action = wire.ActionBalance
	return out, c.call(ctx, r, &out)
}

// Ledger asks for what moved this node's own account, the newest part of it.
func (c *Client) Ledger(ctx context.Context, limit int) (out wire.LedgerPage, err error) {
	r := get(c.own("ledger"), nil)
	if r.action = wire.ActionLedger; limit > 0 {
		r.query = url.Values{"limit": {strconv.Itoa(limit)}}
	}
	r.limit = maxPage
	return out, c.call(ctx, r, &out)
}

// Redeem takes credits out of circulation. A failure of the kind Invalid is the
// hub's refusal; after any other it may have taken them.
func (c *Client) Redeem(ctx context.Context, r wire.Redeem) (out wire.Redemption, err error) {
	err = c.call(ctx, post("/x402/redeem", "", r), &out)
	if err == nil && out.AID != c.signer().AID() {
		err = errs.New(errs.BadGateway, "hub_answer_invalid", "what answers in the place of the hub %s redeemed for %.60q, and not for this node", c.base.Host, out.AID)
	}
	return out, err
}
