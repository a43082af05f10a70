package forward

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

const forgetEvery = 10 * time.Minute

// Run forgets payloads that are old enough, until ctx ends.
func (r *Receiver) Run(ctx context.Context) error {
	return upkeep.AtOnce(ctx, forgetEvery, r.Log, "forgetting what peers brought failed, trying again", r.forget)
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
