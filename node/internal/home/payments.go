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

// PaymentsNow are the limits for who pays.
func (h *Home) PaymentsNow() config.Payments { return h.Present().Payments }

// SetLimits writes limits down and applies them.
func (h *Home) SetLimits(_ context.Context, c node.LimitChange) (node.Limits, error) {
	next, edits := h.PaymentsNow(), []config.Edit(nil)
	for _, one := range []struct {
		name string
		from *uint64
		to   *uint64
	}{
		{"auto_max", c.AutoMax, &next.AutoMax}, {"agent_max", c.AgentMax, &next.AgentMax},
		{"agent_daily_max", c.AgentDailyMax, &next.AgentDailyMax}, {"explicit_max", c.ExplicitMax, &next.ExplicitMax},
		{"daily_max", c.DailyMax, &next.DailyMax},
	} {
		if one.from == nil {
			continue
		}
		if *one.from > payment.MaxAmount {
			return node.Limits{}, errs.New(errs.Invalid, "limit_invalid", "a limit is below 2^63").In(one.name)
		}
		*one.to = *one.from
		edits = append(edits, config.SetPayment(one.name, *one.from))
	}
	if c.PayeeList != nil {
		next.PayeeList = *c.PayeeList
		edits = append(edits, config.SetPayment("payee_list", next.PayeeList))
	}
	return h.setPayments(next, edits...)
}

// SetPayee puts an agent on the list of payees, or takes it off.
func (h *Home) SetPayee(_ context.Context, aid string, listed bool) (node.Limits, error) {
	if !identity.ValidAID(aid) {
		return node.Limits{}, errs.New(errs.Invalid, "aid_not_full", "%.80q is no full AID; anet find shows them", aid).In("aid")
	}
	next := h.PaymentsNow()
	rest := slices.DeleteFunc(slices.Clone(next.Payees), func(other string) bool { return other == aid })
	switch {
	case listed:
		rest = append(rest, aid)
	case len(rest) == len(next.Payees):
		return node.Limits{}, errs.New(errs.NotFound, "payee_unknown", "%s is not on the list of payees", aid)
	}
	next.Payees = rest
	return h.setPayments(next, config.SetPayees(rest))
}

func (h *Home) setPayments(next config.Payments, edits ...config.Edit) (node.Limits, error) {
	err := h.change(func(c *config.Config) { c.Payments = next }, edits...)
	return node.LimitsOf(next), err
}

// Limits are the bounds on what is paid.
func (h *Home) Limits(context.Context) (node.Limits, error) {
	return node.LimitsOf(h.PaymentsNow()), nil
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
