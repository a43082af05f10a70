package mailbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// circles is a hub that shows one page whatever it is asked for, at once.
type circles struct {
	polls atomic.Int64
	page  []wire.Message
}

func (c *circles) Poll(ctx context.Context, _ wire.Poll) (wire.Polled, error) {
	c.polls.Add(1)
	time.Sleep(time.Millisecond)
	return wire.Polled{Messages: c.page}, ctx.Err()
}

func (c *circles) Ack(context.Context, []int64) error { return nil }

// A hub that repeats itself must not keep a node busy, whether it repeats mail
// that was acknowledged or mail that still waits.
func TestAHubThatRepeatsItself(t *testing.T) {
	for name, words := range map[string]string{"acknowledged": "good", "waiting": "early"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := &circles{page: []wire.Message{{ID: 9, Envelope: []byte(words)}, {ID: 7, Envelope: []byte(words)}}}
				box := New(hub, &reader{}, noSync, Events{}, slog.New(slog.DiscardHandler))
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
				defer stop()
				if err := box.Run(ctx); err != nil {
					t.Errorf("Run = %v, want nil", err)
				}
				if n := hub.polls.Load(); n > 300 {
					t.Errorf("%d polls in ten minutes, want no more than one in two seconds", n)
				}
			})
		})
	}
}
