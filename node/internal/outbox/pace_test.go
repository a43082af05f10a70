package outbox

import (
	"errors"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
)

// L.7: 5 s doubling to 24 h, and a hub's own word within bounds.
func TestDelay(t *testing.T) {
	busy := func(d time.Duration) error { return errs.New(errs.TooMany, "x", "x").After(d) }
	for _, tt := range []struct {
		name      string
		attempt   int
		err       error
		low, high time.Duration
	}{
		{"first", 1, errors.New("x"), 2500 * time.Millisecond, 5 * time.Second},
		{"second", 2, errors.New("x"), 5 * time.Second, 10 * time.Second},
		{"sixth", 6, errors.New("x"), 80 * time.Second, 160 * time.Second},
		{"hundredth", 100, errors.New("x"), 12 * time.Hour, 24 * time.Hour},
		{"the hub names a time", 6, busy(time.Minute), time.Minute, 75 * time.Second},
		{"the hub names none", 1, busy(0), 2500 * time.Millisecond, 5 * time.Second},
		{"the hub names less than a second", 1, busy(time.Millisecond), time.Second, 1250 * time.Millisecond},
		{"the hub names a month", 1, busy(720 * time.Hour), 24 * time.Hour, 30 * time.Hour},
	} {
		for range 100 {
			if d := delay(tt.attempt, tt.err); d < tt.low || d > tt.high {
				t.Errorf("%s: delay %v, want %v to %v", tt.name, d, tt.low, tt.high)
				break
			}
		}
	}
}

func TestPermanent(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"refused as it is", errs.New(errs.Invalid, "x", "x"), true},
		{"no such recipient", errs.New(errs.NotFound, "x", "x"), true},
		{"too large", errs.New(errs.TooLarge, "x", "x"), true},
		{"mailbox full", errs.New(errs.Full, "x", "x"), false},
		{"rate", errs.New(errs.TooMany, "x", "x"), false},
		{"not registered", errs.New(errs.Unauthorized, "x", "x"), false},
		{"hub away", errs.New(errs.Unavailable, "x", "x"), false},
		{"hub broken", errs.New(errs.Internal, "x", "x"), false},
		{"no kind", errors.New("x"), false},
	} {
		if got := permanent(tt.err); got != tt.want {
			t.Errorf("%s: permanent = %v, want %v", tt.name, got, tt.want)
		}
	}
	if !keyless(envelope.NoUsableKey.Errorf("x")) || keyless(envelope.InvalidInput.Errorf("x")) {
		t.Error("a missing key is not told from a message that cannot be sealed")
	}
}
