package liveness

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/directory"
)

type memory struct {
	mu     sync.Mutex
	seen   map[string]time.Time
	writes int
	fail   bool
}

func (m *memory) Stamp(_ context.Context, seen map[string]time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail {
		return 0, errors.New("no database")
	}
	m.writes++
	maps.Copy(m.seen, seen)
	return 0, nil
}

func (m *memory) set(fail bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

func (m *memory) counts() (writes, agents int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes, len(m.seen)
}

// run gives body a running batcher in a bubble of its own time.
func run(t *testing.T, body func(b *Batcher, m *memory)) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{seen: map[string]time.Time{}}
		log := slog.New(slog.DiscardHandler)
		p := NewPresence(nil, directory.UsualAges, time.Now, log)
		b := New(m, p, NewCounts(prometheus.NewRegistry()), log)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Run(ctx) }()
		body(b, m)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestPollsOfManyAgentsAreOneWrite(t *testing.T) {
	run(t, func(b *Batcher, m *memory) {
		for _, aid := range []string{"a", "b", "c"} {
			b.Seen(aid, time.Now())
		}
		time.Sleep(2 * maxInterval)
		if writes, agents := m.counts(); writes != 1 || agents != 3 {
			t.Errorf("%d writes of %d agents, want 1 of 3", writes, agents)
		}
	})
}

func TestAnAgentIsWrittenOncePerResolution(t *testing.T) {
	run(t, func(b *Batcher, m *memory) {
		for range 20 * 60 {
			b.Seen("a", time.Now())
			time.Sleep(time.Second)
		}
		if writes, _ := m.counts(); writes != 2 {
			t.Errorf("%d writes in twenty minutes of polling, want 2", writes)
		}
	})
}

func TestAFailedBatchIsWrittenLater(t *testing.T) {
	run(t, func(b *Batcher, m *memory) {
		m.set(true)
		b.Seen("a", time.Now())
		time.Sleep(2 * maxInterval)
		m.set(false)
		time.Sleep(2 * maxInterval)
		if _, agents := m.counts(); agents != 1 {
			t.Error("the sign of life was lost")
		}
	})
}

func TestTheLastBatchIsWrittenAtTheEnd(t *testing.T) {
	var kept *memory
	run(t, func(b *Batcher, m *memory) {
		b.Seen("a", time.Now())
		kept = m
	})
	if writes, _ := kept.counts(); writes != 1 {
		t.Errorf("%d writes after the end, want 1", writes)
	}
}

func TestAReturningAgentIsStampedAtOnce(t *testing.T) {
	run(t, func(b *Batcher, m *memory) {
		b.Seen("a", time.Now())
		time.Sleep(2 * maxInterval)
		b.Forget("a")
		b.Seen("a", time.Now())
		time.Sleep(2 * maxInterval)
		if writes, _ := m.counts(); writes != 2 {
			t.Errorf("%d writes, want 2", writes)
		}
	})
}
