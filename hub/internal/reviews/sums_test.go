package reviews

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// peering is a store in which peers taught n reviews of everybody.
type peering struct {
	Store
	n     atomic.Int64
	reads atomic.Int64
	wait  func()
	err   error
}

func (p *peering) Rating(context.Context, string) (directory.Rating, error) {
	return directory.Rating{}, nil
}

func (p *peering) Elsewhere(ctx context.Context, _ string) ([]Peer, error) {
	p.reads.Add(1)
	if p.wait != nil {
		p.wait()
	}
	n := p.n.Load()
	return []Peer{{Hub: "https://b.example.org", Rating: directory.Rating{Sum: 4 * n, Count: n}}}, errors.Join(p.err, ctx.Err())
}

func TestManyReviewsAreSummedOnceAMinute(t *testing.T) {
	for _, tt := range []struct {
		reviews int64
		later   time.Duration
		reads   int64
	}{
		{manyReviews - 1, 0, 2},
		{manyReviews, 0, 1},
		{manyReviews, sumKept - 1, 1},
		{manyReviews, sumKept, 2},
	} {
		now, store := start, &peering{}
		r := New(store, nil, nil, func() time.Time { return now })
		store.n.Store(tt.reviews)
		first, err := r.Reputation(t.Context(), "b")
		now = now.Add(tt.later)
		second, err2 := r.Reputation(t.Context(), "b")
		if errors.Join(err, err2) != nil || store.reads.Load() != tt.reads || first.Combined != second.Combined || second.Combined.Reviews != tt.reviews {
			t.Errorf("%d reviews asked for twice, %s apart: read %d times, want %d; %+v, %v",
				tt.reviews, tt.later, store.reads.Load(), tt.reads, second, errors.Join(err, err2))
		}
	}
}

// Many who ask at once read once, also where the first one leaves.
func TestManyAskTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &peering{wait: func() { time.Sleep(time.Second) }}
		store.n.Store(manyReviews - 1)
		r := New(store, nil, nil, time.Now)
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if rep, err := r.Reputation(ctx, "b"); err != nil || rep.Combined.Reviews != manyReviews-1 {
					t.Errorf("%+v, %v", rep, err)
				}
			})
		}
		synctest.Wait()
		leave()
		all.Wait()
		if n := store.reads.Load(); n != 1 {
			t.Errorf("read %d times for fifty who asked together", n)
		}
	})
}

func TestAFailureIsNotKept(t *testing.T) {
	store := &peering{err: errors.New("the database is away")}
	store.n.Store(manyReviews)
	r := New(store, nil, nil, func() time.Time { return start })
	if _, err := r.Reputation(t.Context(), "b"); err == nil {
		t.Error("a failure is an answer")
	}
	store.err = nil
	if rep, err := r.Reputation(t.Context(), "b"); err != nil || rep.Combined.Reviews != manyReviews {
		t.Errorf("after the failure: %+v, %v", rep, err)
	}
}

func TestSumsAreBounded(t *testing.T) {
	var s sums
	for i := range maxSums + 10 {
		s.keep(fmt.Sprint(i), nil, start)
	}
	if len(s.kept) != maxSums {
		t.Errorf("%d sums are kept, want %d", len(s.kept), maxSums)
	}
	s.keep("later", nil, start.Add(sumKept))
	if _, held := s.held("later", start.Add(sumKept)); !held || len(s.kept) != 1 {
		t.Errorf("%d sums are kept after their time, the new one %v", len(s.kept), held)
	}
}
