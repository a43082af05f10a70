// Package admission decides who may knock, and how often. Buckets are kept in
// each process by itself: with n processes behind a balancer an address gets up
// to n times its rate.
package admission

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anet-hub/anet/shared/errs"
)

// maxBuckets bounds the memory. Where more keys are in use at once, all start
// anew with a full bucket: a flood from a million addresses is not stopped by
// counting addresses.
const maxBuckets = 1 << 18

// Limiter is a token bucket for each key: an address, or an AID.
type Limiter struct {
	rate   rate.Limit
	burst  int
	reason string
	now    func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	sweepAt time.Time
}

// NewLimiter gives every key burst tokens and perMinute new ones a minute.
// Refusals carry the reason.
func NewLimiter(perMinute float64, burst int, reason string, now func() time.Time) *Limiter {
	return &Limiter{rate: rate.Limit(perMinute / 60), burst: burst, reason: reason, now: now,
		buckets: map[string]*rate.Limiter{}}
}

// Take takes a token or says when there will be one.
func (l *Limiter) Take(key string) error {
	_, err := l.Reserve(key)
	return err
}

// Reserve takes a token that may turn out not to have been used: then giveBack
// returns it.
func (l *Limiter) Reserve(key string) (giveBack func(), err error) {
	now := l.now()
	r := l.bucket(key, now).ReserveN(now, 1)
	if !r.OK() {
		return nil, l.refusal(time.Minute)
	}
	if d := r.DelayFrom(now); d > 0 {
		r.CancelAt(now)
		return nil, l.refusal(d)
	}
	return func() { r.CancelAt(now) }, nil
}

// Peek is what Take would say, without taking anything: a key may be a mere
// claim still.
func (l *Limiter) Peek(key string) error {
	now := l.now()
	l.mu.Lock()
	b, known := l.buckets[key]
	l.mu.Unlock()
	if !known || b.TokensAt(now) >= 1 {
		return nil
	}
	missing := 1 - b.TokensAt(now)
	return l.refusal(time.Duration(missing / float64(l.rate) * float64(time.Second)))
}

func (l *Limiter) refusal(after time.Duration) error {
	return errs.New(errs.TooMany, l.reason, "too many requests: try again in %d seconds",
		int64(after/time.Second)+1).After(after)
}

func (l *Limiter) bucket(key string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.sweepAt) || len(l.buckets) >= maxBuckets {
		l.sweep(now)
	}
	b, ok := l.buckets[key]
	if !ok {
		b = rate.NewLimiter(l.rate, l.burst)
		l.buckets[key] = b
	}
	return b
}

// sweep drops the buckets that are full again: they say nothing.
func (l *Limiter) sweep(now time.Time) {
	l.sweepAt = now.Add(time.Minute)
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, key)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
