package mailbox

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/shared/errs"
)

// D11: nodes that lost their hub in the same moment do not come back in the same
// second, neither early on nor at the cap. Of five hundred three times the mean never
// come by chance; of fifty they sometimes do.
func TestAttemptsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubtest.New()
		ctx, stop := context.WithCancel(t.Context())
		for range 500 {
			hub.Open(me)
			go New(hub.Line(me), &reader{}, noSync, Events{}, slog.New(slog.DiscardHandler)).Run(ctx)
		}
		time.Sleep(time.Minute)
		down, long := time.Now(), 5*time.Minute
		hub.Down(errs.New(errs.Unavailable, "down", "connection refused"))
		time.Sleep(long)
		stop()

		perSecond := map[int]int{}
		total := 0
		for _, a := range hub.Attempts() {
			if s := int(a.At.Sub(down) / time.Second); a.What == "poll" && s >= 5 {
				perSecond[s]++
				total++
			}
		}
		peak := 0
		for _, n := range perSecond {
			peak = max(peak, n)
		}
		if mean := float64(total) / (long.Seconds() - 5); float64(peak) >= 3*mean {
			t.Errorf("peak %d attempts a second against a mean of %.1f, want less than three times", peak, mean)
		}
	})
}

func TestDelayKeepsItsSpreadAtTheCap(t *testing.T) {
	b := Backoff{Base: time.Second, Cap: 15 * time.Second}
	for _, n := range []int{1, 5, 60, 10_000} {
		low, high := b.Cap, time.Duration(0)
		for range 500 {
			d := b.Delay(n)
			low, high = min(low, d), max(high, d)
		}
		width := b.Cap
		if n == 1 {
			width = b.Base
		}
		if high-low < width*8/10 || high > width+minDelay {
			t.Errorf("after failure %d delays lie in %v to %v, want them spread over %v", n, low, high, width)
		}
	}
}
