package relay

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRunExpiresAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		o.put(t, "bob", 10)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = o.Run(ctx) })
		synctest.Wait()
		expect(t, o, series{messages: 1, bytes: 10})
		time.Sleep(limits.TTL)
		o.put(t, "bob", 7)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		expect(t, o, series{messages: 1, bytes: 7, expired: 1})
		stop()
		wg.Wait()
	})
}

// The metric tells when expiry last came to its end, not when it last ran.
func TestExpiryThatFailsIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Hour+time.Second)
		defer stop()
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { _ = o.Run(ctx) })
		time.Sleep(time.Hour + time.Second)
		o.mem.breaks(errors.New("the database is away"))
		time.Sleep(time.Hour - time.Second)
		wg.Wait()
		if got, want := value(t, o, "anet_hub_relay_expiry_seconds"), seconds(began.Add(time.Hour)); got != want {
			t.Errorf("the last expiry was %v s after the start, want %v s", got-seconds(began), want-seconds(began))
		}
	})
}

func TestCountingTakesNoMoreThanItsShare(t *testing.T) {
	for _, tt := range []struct {
		name string
		slow time.Duration
		want int // in an hour
	}{
		{"few mailboxes", 0, 360},
		{"many mailboxes", 200 * time.Millisecond, 36},
		{"more than should be", 10 * time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(limits)
			o.mem.slow = tt.slow
			ctx, stop := context.WithTimeout(t.Context(), time.Hour-time.Second)
			defer stop()
			_ = o.Run(ctx)
			if o.mem.counts != tt.want {
				t.Errorf("%s: counted %d times in an hour, want %d", tt.name, o.mem.counts, tt.want)
			}
		})
	}
}

type series struct{ messages, bytes, expired float64 }

// expect compares what the metrics say.
func expect(t *testing.T, o *office, want series) {
	t.Helper()
	got := series{
		messages: value(t, o, "anet_hub_relay_mail_messages"), bytes: value(t, o, "anet_hub_relay_mail_bytes"),
		expired: value(t, o, "anet_hub_relay_expired_total"),
	}
	if got != want {
		t.Errorf("the metrics say %+v, want %+v", got, want)
	}
}

// value is a metric without labels.
func value(t *testing.T, o *office, name string) float64 {
	t.Helper()
	families, err := o.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if m := f.GetMetric()[0]; f.GetName() == name {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
