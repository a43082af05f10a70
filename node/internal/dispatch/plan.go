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
// may call it was decided before, by the id alone.
func (d *Dispatch) Plan(capID string) Plan {
	p, found := d.providers.Resolve(capID)
	if !found {
		return Plan{outcome: provider.Unavailable(task.CapabilityNotServed, "nothing here answers "+capID)}
	}
	if _, priced := provider.PriceOf(p, capID); priced {
		// Never for free what has a price: this build takes no payments.
		return Plan{outcome: provider.Unavailable(task.PaymentsUnavailable, "this node cannot take payments")}
	}
	limit := provider.LimitOf(p, capID)
	slot, retry := d.short, shortRetry
	if limit > provider.ShortCall {
		slot, retry = d.long, longRetry
	}
	select {
	case slot <- struct{}{}:
		return Plan{provider: p, limit: limit, slot: slot}
	default:
		busy := provider.Unavailable(task.Unavailable, "too many calls are at work")
		busy.RetryAfter = retry
		return Plan{outcome: busy}
	}
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
