// Package liveness notes when agents were last heard of, and takes out of the
// lists who was not for long. Signs of life come with every poll; they are kept
// in memory and written in batches, one statement for all, and for one agent at
// most every ten minutes. What a kill loses is at most one batch, and the next
// poll makes up for it.
//
// The one rule its users must know: the age of an agent counts only while a
// process of the hub is up. Presence keeps that account, and everything that
// asks whether an agent is hidden asks it.
package liveness

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	maxResolution = 10 * time.Minute
	maxInterval   = 2 * time.Second // between batches
	maxKnown      = 1 << 20         // agents whose last stamp is remembered
	lastCall      = time.Second     // for the batch at the end
)

// resolutionIn is how often one agent is written at most: well below the time
// after which it counts as quiet.
func resolutionIn(quiet time.Duration) time.Duration { return min(maxResolution, quiet/6) }

// Store keeps the times.
type Store interface {
	// Stamp writes the last signs of life of agents that are registered, never
	// moving one back; others are left out. Who was away is in the lists again;
	// back is how many.
	Stamp(ctx context.Context, seen map[string]time.Time) (back int, err error)
}

// Batcher collects signs of life.
type Batcher struct {
	*Presence
	store      Store
	log        *slog.Logger
	counts     *Counts
	resolution time.Duration

	mu      sync.Mutex
	written map[string]time.Time // the last stamp of each agent, as far as known
	pending map[string]time.Time
}

// New makes a batcher; it writes while Run runs.
func New(store Store, p *Presence, c *Counts, log *slog.Logger) *Batcher {
	return &Batcher{
		Presence: p, store: store, log: log, counts: c, resolution: resolutionIn(p.ages.Quiet),
		written: map[string]time.Time{}, pending: map[string]time.Time{},
	}
}

// Seen notes a sign of life. The caller has verified a signature of the agent.
func (b *Batcher) Seen(aid string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.written[aid]; ok && at.Sub(last) < b.resolution {
		return
	}
	b.pending[aid] = at
}

// Forget drops what is known of an agent that left, so that its return is
// stamped at once.
func (b *Batcher) Forget(aid string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.written, aid)
	delete(b.pending, aid)
}

// Run writes batches until ctx ends, and the last one then.
func (b *Batcher) Run(ctx context.Context) error {
	tick := time.NewTicker(min(maxInterval, b.resolution))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.flush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCall)
			defer cancel()
			b.flush(last)
			return nil
		}
	}
}

// flush writes what is pending. A batch that fails is tried again with the next.
func (b *Batcher) flush(ctx context.Context) {
	batch := b.take()
	if len(batch) == 0 {
		return
	}
	back, err := b.store.Stamp(ctx, batch)
	b.counts.back.Add(float64(back))
	if err != nil {
		b.log.Warn("signs of life were not written, the next batch tries again", "agents", len(batch), "error", err)
		b.giveBack(batch)
	}
}

func (b *Batcher) take() map[string]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch := b.pending
	b.pending = make(map[string]time.Time, len(batch))
	if len(b.written)+len(batch) > maxKnown {
		clear(b.written) // costs some early stamps, and bounds the memory
	}
	for aid, at := range batch {
		b.written[aid] = at
	}
	return batch
}

func (b *Batcher) giveBack(batch map[string]time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for aid, at := range batch {
		delete(b.written, aid)
		if at.After(b.pending[aid]) {
			b.pending[aid] = at
		}
	}
}
