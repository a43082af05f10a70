package mailbox

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// receipts is a hub that notes when it was told to forget what.
type receipts struct {
	ids   [][]int64
	after []time.Duration
	start time.Time
}

func (r *receipts) Poll(context.Context, wire.Poll) (wire.Polled, error) { return wire.Polled{}, nil }

func (r *receipts) Ack(_ context.Context, ids []int64) error {
	r.ids, r.after = append(r.ids, slices.Clone(ids)), append(r.after, time.Since(r.start))
	return nil
}

// What is decided within the pause is acknowledged together, after it; at the end
// nothing is waited for.
func TestAcksLetTheAnswerGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &receipts{start: time.Now()}
		a := newAcks(hub, noSync)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- a.run(ctx) }()
		a.done(1)
		time.Sleep(ackPause / 2)
		a.done(2)
		time.Sleep(time.Second)
		a.done(3)
		synctest.Wait()
		stop()
		<-ended
		if len(hub.ids) != 2 || !slices.Equal(hub.ids[0], []int64{1, 2}) || !slices.Equal(hub.ids[1], []int64{3}) {
			t.Fatalf("acknowledged %v, want 1 and 2, then 3", hub.ids)
		}
		if hub.after[0] != ackPause || hub.after[1] != ackPause/2+time.Second {
			t.Errorf("after %v, want after the pause and at the end", hub.after)
		}
	})
}
