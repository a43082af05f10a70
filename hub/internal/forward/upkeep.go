package forward

import (
	"context"
	"time"
)

const forgetEvery = 10 * time.Minute

// Run forgets payloads that are old enough, until ctx ends.
func (r *Receiver) Run(ctx context.Context) error {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := r.forget(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("forgetting what peers brought failed, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *Receiver) forget(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := r.Store.Forget(ctx, r.Now().Add(-Memory))
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}
