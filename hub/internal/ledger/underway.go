package ledger

import (
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// AtLimit is the failure of a payment that would have a peer owe more than it may, once
// others have come through that are under way or were quicker.
func AtLimit() error {
	return errs.New(errs.Unavailable, "debt_at_limit",
		"the payer's hub owes this one as much as it may: come back when it has cleared some").After(time.Minute)
}

// underway are the payments that peers are asked to settle at this moment. What they
// come to is left room for, so that none is settled there and cannot be credited here.
type underway struct {
	mu  sync.Mutex
	sum map[string]uint64 // by hub
}

// begin takes an amount up where there is room for it.
func (u *underway) begin(hub string, amount, room uint64) (done func(), ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sum[hub] > room || amount > room-u.sum[hub] {
		return nil, false
	}
	if u.sum == nil {
		u.sum = map[string]uint64{}
	}
	u.sum[hub] += amount
	return func() { u.end(hub, amount) }, true
}

func (u *underway) end(hub string, amount uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sum[hub] -= amount; u.sum[hub] == 0 {
		delete(u.sum, hub)
	}
}
