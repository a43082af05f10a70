package home

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// LimitsNow are the limits for who pays.
func (h *Home) LimitsNow() config.Limits { return h.Present().Payments.Limits }

// SetLimits writes limits down and applies them.
func (h *Home) SetLimits(_ context.Context, c node.LimitChange) (node.Limits, error) {
	var edits []config.Edit
	for _, one := range []struct {
		name string
		most *uint64
	}{
		{"auto_max", c.AutoMax}, {"agent_max", c.AgentMax}, {"agent_daily_max", c.AgentDailyMax},
		{"explicit_max", c.ExplicitMax}, {"daily_max", c.DailyMax},
	} {
		if one.most == nil {
			continue
		}
		if *one.most > payment.MaxAmount {
			return node.Limits{}, errs.New(errs.Invalid, "limit_invalid", "a limit is below 2^63").In(one.name)
		}
		edits = append(edits, config.SetPayment(one.name, *one.most))
	}
	if c.PayeeList != nil {
		edits = append(edits, config.SetPayment("payee_list", *c.PayeeList))
	}
	return h.setLimits(c.Of(h.LimitsNow()), edits...)
}

// SetPayee puts an agent on the list of payees, or takes it off.
func (h *Home) SetPayee(_ context.Context, aid string, listed bool) (node.Limits, error) {
	if !identity.ValidAID(aid) {
		return node.Limits{}, errs.New(errs.Invalid, "aid_not_full", "%.80q is no full AID; anet find shows them", aid).In("aid")
	}
	next := h.LimitsNow()
	rest := slices.DeleteFunc(slices.Clone(next.Payees), func(other string) bool { return other == aid })
	switch {
	case listed:
		rest = append(rest, aid)
	case len(rest) == len(next.Payees):
		return node.Limits{}, errs.New(errs.NotFound, "payee_unknown", "%s is not on the list of payees", aid)
	}
	next.Payees = rest
	return h.setLimits(next, config.SetPayees(rest))
}

func (h *Home) setLimits(next config.Limits, edits ...config.Edit) (node.Limits, error) {
	err := h.change(func(c *config.Config) { c.Payments.Limits = next }, edits...)
	return node.LimitsOf(next), err
}

// Limits are the bounds on what is paid.
func (h *Home) Limits(context.Context) (node.Limits, error) {
	return node.LimitsOf(h.LimitsNow()), nil
}

// Balance asks the hub.
func (h *Home) Balance(ctx context.Context) (node.Balance, error) {
	if h.Hub == nil {
		return node.Balance{}, notJoined()
	}
	b, err := h.Hub.Balance(ctx)
	return node.Balance{AID: b.AID, Hub: h.Hub.Hub(), Credits: b.Credits}, noLedger(err)
}

// Account asks the hub.
func (h *Home) Account(ctx context.Context, limit int) (node.Account, error) {
	if h.Hub == nil {
		return node.Account{}, notJoined()
	}
	page, err := h.Hub.Ledger(ctx, limit)
	out := node.Account{AID: page.AID, Entries: []node.AccountEntry{}, Total: page.Total, Credits: page.Sum, Truncated: page.Truncated}
	for _, e := range page.Entries {
		out.Entries = append(out.Entries, node.AccountEntry{At: e.At, Delta: e.Delta, Reason: e.Reason, Transaction: e.Transaction})
	}
	return out, noLedger(err)
}

// noLedger says what a missing route means: the hub itself was met.
func noLedger(err error) error {
	if kind := errs.KindOf(err); kind == errs.NotFound || kind == errs.BadGateway {
		return errs.New(errs.Unavailable, "no_ledger", "this node's hub keeps no ledger").Because(err)
	}
	return err
}
