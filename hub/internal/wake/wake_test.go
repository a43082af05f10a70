package wake

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// line is a bus of one listener whose working parts can be taken away.
type line struct {
	mu    sync.Mutex
	told  []News
	fails error         // of Tell
	hears chan error    // ends Hear
	news  chan News     // of others
	deaf  bool          // Hear never works
	tries []time.Time   // of Hear
	slow  time.Duration // Tell takes this long
}

func newLine() *line { return &line{hears: make(chan error), news: make(chan News)} }

func (l *line) Tell(_ context.Context, n News) error {
	time.Sleep(l.slow)
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(n.AIDs)
	if l.fails == nil {
		l.told = append(l.told, n)
	}
	return l.fails
}

func (l *line) Hear(ctx context.Context, ready func(), heard func(News)) error {
	l.mu.Lock()
	l.tries = append(l.tries, time.Now())
	deaf := l.deaf
	l.mu.Unlock()
	if deaf {
		return ErrDeaf
	}
	ready()
	for {
		select {
		case n := <-l.news:
			heard(n)
		case err := <-l.hears:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// boxes are mailboxes with the highest id in them.
type boxes struct {
	mu    sync.Mutex
	last  map[string]int64
	looks int
}

func (m *boxes) WithMail(_ context.Context, places []Place) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	var out []string
	for _, p := range places {
		if m.last[p.AID] > p.After {
			out = append(out, p.AID)
		}
	}
	return out, nil
}

func (m *boxes) put(aid string, id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[aid] = id
}

// story runs a board in a bubble and stops it at the end.
func story(t *testing.T, tell func(t *testing.T, b *Board, l *line, m *boxes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, m := newLine(), &boxes{last: map[string]int64{}}
		b := NewBoard(m, l, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = b.Run(ctx) })
		synctest.Wait()
		tell(t, b, l, m)
		stop()
		wg.Wait()
	})
}

// within says whether w is woken in time.
func within(t *testing.T, w *Waiter, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return w.Next(ctx)
}

func TestLocalWaiterIsWokenDirectly(t *testing.T) {
	story(t, func(t *testing.T, b *Board, l *line, _ *boxes) {
		l.slow = time.Hour // the others have no part in it
		w, other := b.Wait(Place{AID: "a"}), b.Wait(Place{AID: "b"})
		defer w.Stop()
		defer other.Stop()
		start := time.Now()
		b.Wake("a")
		if !within(t, w, time.Minute) || time.Since(start) != 0 {
			t.Errorf("woken after %v, want at once", time.Since(start))
		}
		if within(t, other, time.Second) {
			t.Error("a poll was woken for another agent's mail")
		}
	})
}

func TestMailBetweenWaitAndNextIsNotMissed(t *testing.T) {
	story(t, func(t *testing.T, b *Board, _ *line, _ *boxes) {
		w := b.Wait(Place{AID: "a"})
		defer w.Stop()
		b.Wake("a")
		if !within(t, w, time.Second) {
			t.Error("mail that came after Wait was missed")
		}
	})
}

func TestNewsAreBatched(t *testing.T) {
	story(t, func(t *testing.T, b *Board, l *line, _ *boxes) {
		b.Wake("first")
		synctest.Wait()
		for _, aid := range []string{"a", "b", "a", "c"} {
			b.Wake(aid)
		}
		time.Sleep(batchEvery)
		synctest.Wait()
		if len(l.told) != 2 || !slices.Equal(l.told[0].AIDs, []string{"first"}) || !slices.Equal(l.told[1].AIDs, []string{"a", "b", "c"}) {
			t.Errorf("told %v, want the first at once and the rest in one batch", l.told)
		}
	})
}

func TestTooMuchNewsBecomesLookAtEverything(t *testing.T) {
	b := NewBoard(nil, nil, nil)
	for i := range maxNews + 10 {
		b.tell(string(rune(i)))
	}
	if n := b.take(); !n.All || len(n.AIDs) > 0 {
		t.Errorf("%d AIDs, all = %v; want no AIDs and all", len(n.AIDs), n.All)
	}
}

func TestLostNewsAreMadeUpFor(t *testing.T) {
	story(t, func(t *testing.T, b *Board, l *line, _ *boxes) {
		l.fails = errors.New("down")
		b.Wake("a")
		synctest.Wait()
		l.mu.Lock()
		l.fails = nil
		l.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(l.told) != 1 || !l.told[0].All {
			t.Errorf("told %v, want one word to look at everything", l.told)
		}
	})
}

func TestNewsOfOthersWake(t *testing.T) {
	story(t, func(t *testing.T, b *Board, l *line, m *boxes) {
		w := b.Wait(Place{AID: "a", After: 4})
		defer w.Stop()
		l.news <- News{AIDs: []string{"b", "a"}}
		if !within(t, w, time.Second) {
			t.Error("not woken by another process")
		}
		m.put("a", 5)
		l.news <- News{All: true}
		if !within(t, w, time.Second) {
			t.Error("not woken after another process lost news")
		}
	})
}

func TestEverythingIsLookedAtWhenListeningBeginsAnew(t *testing.T) {
	story(t, func(t *testing.T, b *Board, l *line, m *boxes) {
		time.Sleep(time.Second)
		w := b.Wait(Place{AID: "a", After: 4})
		defer w.Stop()
		l.hears <- errors.New("connection reset")
		m.put("a", 5)
		if !within(t, w, time.Second) {
			t.Error("mail that came while nobody listened was missed")
		}
	})
}

func TestOldMailDoesNotWake(t *testing.T) {
	story(t, func(t *testing.T, b *Board, _ *line, m *boxes) {
		m.put("a", 4)
		w := b.Wait(Place{AID: "a", After: 4})
		defer w.Stop()
		if within(t, w, time.Minute) {
			t.Error("woken for mail that the poll has seen")
		}
	})
}

func TestWhatAKilledProcessDidNotTellIsFound(t *testing.T) {
	story(t, func(t *testing.T, b *Board, _ *line, m *boxes) {
		w := b.Wait(Place{AID: "a"})
		defer w.Stop()
		m.put("a", 1)
		if !within(t, w, lookEvery+time.Second) {
			t.Error("not found by looking")
		}
	})
}

func TestBehindAPoolerTheBoardLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newLine(), &boxes{last: map[string]int64{}}
		l.deaf = true
		b := NewBoard(m, l, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = b.Run(ctx) })
		w := b.Wait(Place{AID: "a"})
		time.Sleep(2*retryDeaf + time.Second)
		m.put("a", 1)
		if !within(t, w, 2*lookDeaf) {
			t.Error("not woken in time")
		}
		if n := len(l.tries); n < 2 || n > 4 {
			t.Errorf("LISTEN was tried %d times in two minutes", n)
		}
		w.Stop()
		looks := m.looks
		time.Sleep(10 * time.Second)
		if m.looks != looks {
			t.Error("the database is asked though nobody waits")
		}
		stop()
		wg.Wait()
	})
}

func TestCloseEndsEveryWait(t *testing.T) {
	story(t, func(t *testing.T, b *Board, _ *line, _ *boxes) {
		w := b.Wait(Place{AID: "a"})
		defer w.Stop()
		start := time.Now()
		time.AfterFunc(time.Second, b.Close)
		if within(t, w, time.Hour) || time.Since(start) != time.Second {
			t.Errorf("the wait ended after %v, want with the hub", time.Since(start))
		}
		later := b.Wait(Place{AID: "a"})
		defer later.Stop()
		if within(t, later, time.Hour) || time.Since(start) != time.Second {
			t.Error("a wait begun after the end does not end")
		}
	})
}

func TestStopLeavesNothingBehind(t *testing.T) {
	b := NewBoard(nil, nil, nil)
	first, second := b.Wait(Place{AID: "a"}), b.Wait(Place{AID: "a"})
	first.Stop()
	first.Stop()
	if b.Waiting() != 1 {
		t.Errorf("%d waiting, want 1", b.Waiting())
	}
	second.Stop()
	if b.Waiting() != 0 || len(b.waiters) != 0 {
		t.Errorf("%d waiting in %d mailboxes, want none", b.Waiting(), len(b.waiters))
	}
}

func TestNewerPollsTakeThePlaceOfForgottenOnes(t *testing.T) {
	b := NewBoard(nil, nil, nil)
	oldest := b.Wait(Place{AID: "a"})
	for range maxWaiters {
		b.Wait(Place{AID: "a"})
	}
	if oldest.Next(t.Context()) {
		t.Error("the oldest poll was woken, want it ended")
	}
	if b.Waiting() != maxWaiters {
		t.Errorf("%d waiting, want %d", b.Waiting(), maxWaiters)
	}
	oldest.Stop()
	if b.Waiting() != maxWaiters {
		t.Error("an ended poll was counted out twice")
	}
}
