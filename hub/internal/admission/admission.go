// Package admission decides who may come in, and how often one may knock.
//
// Invites are exact over all processes: a use is counted in the transaction that
// admits. Buckets are kept in each process by itself: with n processes behind a
// balancer an address gets up to n times its rate.
package admission

import (
	"fmt"
	"math"
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

// Policy is what a limiter grants every key: Size requests at once, and as many
// again within Window.
type Policy struct {
	Name   string
	Size   int
	Window time.Duration
}

// Quota is what is left of a policy for one key. Next is when there will be
// more, zero while something is left.
type Quota struct {
	Policy
	Left int
	Next time.Duration
}

// Refused is the cause of every refusal.
type Refused struct{ Quota }

func (r *Refused) Error() string { return fmt.Sprintf("%d in %v", r.Size, r.Window) }

// NewLimiter gives every key burst tokens and perMinute new ones a minute.
// Refusals carry the reason, which also names the policy.
func NewLimiter(perMinute float64, burst int, reason string, now func() time.Time) *Limiter {
	return &Limiter{rate: rate.Limit(perMinute / 60), burst: burst, reason: reason, now: now,
		buckets: map[string]*rate.Limiter{}}
}

// Policy is what every key is granted.
func (l *Limiter) Policy() Policy {
	return Policy{l.reason, l.burst, time.Duration(math.Round(float64(l.burst)/float64(l.rate)*1e6)) * time.Microsecond}
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
	b := l.bucket(key, now)
	r := b.ReserveN(now, 1)
	if !r.OK() {
		return nil, l.refusal(time.Minute)
	}
	if d := r.DelayFrom(now); d > 0 {
		r.CancelAt(now)
		return nil, l.refusal(d)
	}
	// Cancelling would return the less the more tokens were taken since, and nothing
	// after a while.
	return func() { b.ReserveN(l.now(), -1) }, nil
}

// Peek is what Take would say, without taking anything: a key may be a mere
// claim still.
func (l *Limiter) Peek(key string) error {
	if q := l.Quota(key); q.Left == 0 {
		return l.refusal(q.Next)
	}
	return nil
}

// Quota is what is left for a key.
func (l *Limiter) Quota(key string) Quota {
	l.mu.Lock()
	b, known := l.buckets[key]
	l.mu.Unlock()
	q := Quota{Policy: l.Policy(), Left: l.burst}
	if !known {
		return q
	}
	tokens := b.TokensAt(l.now())
	if q.Left = max(0, int(tokens)); q.Left == 0 {
		q.Next = time.Duration((1 - tokens) / float64(l.rate) * float64(time.Second))
	}
	return q
}

func (l *Limiter) refusal(after time.Duration) error {
	return errs.New(errs.TooMany, l.reason, "too many requests: try again in %d s",
		int64(math.Ceil(after.Seconds()))).After(after).Because(&Refused{Quota{l.Policy(), 0, after}})
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
