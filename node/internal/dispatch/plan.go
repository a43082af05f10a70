package dispatch

import (
	"time"

	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/task"
)

// Bounds of calls at work. Beyond them a call is told to come back: it has not
// been attempted.
const (
	longSlots  = 4 // G.4
	longRetry  = time.Minute
	shortSlots = 64
	shortRetry = time.Second
)

// Plan is how a call is going to be run. A plan that is not carried out must be
// dropped.
type Plan struct {
	provider provider.Provider
	limit    time.Duration
	slot     chan struct{}
	outcome  provider.Outcome // of a plan that runs nothing
}

// Plan looks for who answers the id and takes a slot for it. Whether the caller
// may call it was decided before, by the id alone. It is for calls that are free.
func (d *Dispatch) Plan(capID string) Plan {
	p, found := d.providers.Resolve(capID)
	if !found {
		return Plan{outcome: provider.Unavailable(task.CapabilityNotServed, "nothing here answers "+capID)}
	}
	if _, priced := provider.PriceOf(p, capID); priced {
		// Never for free what has a price: who gets here was not asked to pay.
		return Plan{outcome: provider.Unavailable(task.PaymentsUnavailable, "this node cannot take payments")}
	}
	plan := d.planFor(p, capID)
	select {
	case plan.slot <- struct{}{}:
		return plan
	default:
		busy := provider.Unavailable(task.Unavailable, "too many calls are at work")
		busy.RetryAfter = shortRetry
		if plan.Long() {
			busy.RetryAfter = longRetry
		}
		return Plan{outcome: busy}
	}
}

// planFor is a plan whose slot is still to be taken.
func (d *Dispatch) planFor(p provider.Provider, capID string) Plan {
	plan := Plan{provider: p, limit: provider.LimitOf(p, capID), slot: d.short}
	if plan.Long() {
		plan.slot = d.long
	}
	return plan
}

// Runs reports whether a provider is going to be asked at all.
func (p Plan) Runs() bool { return p.provider != nil }

// Long reports whether the call is acknowledged before its end (G.4).
func (p Plan) Long() bool { return p.limit > provider.ShortCall }

// Outcome is the answer of a plan that runs nothing.
func (p Plan) Outcome() provider.Outcome { return p.outcome }

// Drop gives the slot back.
func (p Plan) Drop() {
	if p.slot != nil {
		<-p.slot
	}
}
