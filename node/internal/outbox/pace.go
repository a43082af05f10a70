package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// The pace of attempts (L.7).
const (
	firstDelay = 5 * time.Second
	maxDelay   = 24 * time.Hour
	minRetry   = time.Second
)

// delay is how long to wait after the n-th attempt, n from 1. A hub that names
// a time is obeyed within bounds; otherwise the wait doubles, half of it drawn.
func delay(n int, err error) time.Duration {
	if e := errs.As(err); e != nil && e.RetryAfter > 0 {
		asked := min(max(e.RetryAfter, minRetry), maxDelay)
		return asked + rand.N(asked/4+1)
	}
	step := firstDelay
	for i := 1; i < n && step < maxDelay; i++ {
		step *= 2
	}
	step = min(step, maxDelay)
	return step/2 + rand.N(step/2+1)
}

// permanent reports whether no later attempt can do better: the hub refused the
// message itself, or nobody has keys for the recipient.
func permanent(err error) bool {
	switch errs.KindOf(err) {
	case errs.Invalid, errs.NotFound, errs.TooLarge:
		return true
	}
	return false
}

// spread is the part of a few seconds to wait after the hub came back.
func spread() time.Duration { return rand.N(5 * time.Second) }

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
