package relay

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	expireEvery = time.Minute
	countEvery  = 10 * time.Second

	// countShare bounds what counting costs, whatever the number of mailboxes: it
	// reads them all, and then rests this many times as long as that took.
	countShare = 500
)

// held is the mail in all mailboxes: as the database last added it up, and what
// this process has done since. Between two sums the bound on it may be exceeded
// by what other processes stored meanwhile.
type held struct{ messages, bytes, mailboxes atomic.Int64 }

func (h *held) add(messages, bytes int64) {
	h.messages.Add(messages)
	h.bytes.Add(bytes)
}

func (h *held) set(t Totals) {
	h.messages.Store(t.Messages)
	h.bytes.Store(t.Bytes)
	h.mailboxes.Store(t.Mailboxes)
}

// Run throws away mail whose lifetime is over and keeps the totals, until ctx
// ends. Any number of processes may run it.
func (r *Relay) Run(ctx context.Context) error {
	expire, count := time.NewTimer(0), time.NewTimer(0)
	defer expire.Stop()
	defer count.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-expire.C:
			r.upkeep(ctx, r.Expire)
			expire.Reset(expireEvery)
		case <-count.C:
			took := r.upkeep(ctx, r.Count)
			count.Reset(max(countEvery, countShare*took))
		}
	}
}

func (r *Relay) upkeep(ctx context.Context, work func(context.Context) error) (took time.Duration) {
	start := time.Now()
	if err := work(ctx); err != nil && ctx.Err() == nil {
		r.Log.Warn("upkeep of mailboxes failed, trying again", "error", err)
	}
	return time.Since(start)
}

// Expire deletes everything older than its lifetime.
func (r *Relay) Expire(ctx context.Context) error {
	before := r.Now().Add(-r.Limits.TTL)
	for ctx.Err() == nil {
		n, bytes, err := r.Store.Expire(ctx, before)
		if err != nil {
			return err
		}
		if n == 0 {
			r.metrics.swept.Set(seconds(r.Now()))
			return nil
		}
		r.held.add(-n, -bytes)
		r.metrics.expired.Add(float64(n))
	}
	return ctx.Err()
}

// Count adds up all mailboxes.
func (r *Relay) Count(ctx context.Context) error {
	t, err := r.Store.Totals(ctx)
	if err == nil {
		r.held.set(t)
	}
	return err
}
