package directory

import (
	"context"
	"slices"
	"time"
)

// One request looks at no more places, and for no longer, than this.
const (
	maxLooked = 20_000
	maxWalk   = 50 * time.Millisecond
	maxStep   = 256 // places read with their views
)

// usualView is what a view is expected to have at most. Room for more is made
// when there are larger ones.
const usualView = 2 << 10

// stepper reads the next places of one list, and of views not many more than
// most bytes.
type stepper interface {
	step(ctx context.Context, after Place, want, most int) (Step, bool, error)
	first() Place
	ranked() bool // whether the list is in the order of ranks
}

type rankedSteps struct {
	lists Lists
	caps  []string
}

func (s *rankedSteps) first() Place { return start("") }
func (s *rankedSteps) ranked() bool { return true }

func (s *rankedSteps) step(ctx context.Context, after Place, want, most int) (Step, bool, error) {
	n := min(want, maxStep)
	st, err := s.lists.Ranked(ctx, s.caps, after, n, most)
	return st, st.Looked < n, err
}

type textSteps struct {
	lists Lists
	text  string
	size  int
}

func (s *textSteps) first() Place { return start("") }
func (s *textSteps) ranked() bool { return true }

// step grows from one to the next: a word that many agents use fills its page
// from the first rows, a rare one should not need forty questions.
func (s *textSteps) step(ctx context.Context, after Place, want, most int) (Step, bool, error) {
	n := min(want, maxStep)
	if s.text != "" {
		s.size = min(max(n, 4*s.size), 4000)
		n = s.size
	}
	st, err := s.lists.Search(ctx, s.text, after, n, most)
	return st, st.Looked < n, err
}

type rangeSteps struct {
	lists  Lists
	ranges []Range
}

func (s *rangeSteps) first() Place { return start(s.ranges[0].From) }
func (s *rangeSteps) ranked() bool { return false }

// step reads from one range; at its end the next one begins.
func (s *rangeSteps) step(ctx context.Context, after Place, want, most int) (Step, bool, error) {
	n := min(want, maxStep)
	for i, r := range s.ranges {
		if after.Cap >= r.Until {
			continue
		}
		if after.Cap < r.From {
			after = start(r.From)
		}
		st, err := s.lists.InRange(ctx, s.ranges, i, after, n, most)
		last := i == len(s.ranges)-1
		if err != nil || st.Looked > 0 || last {
			return st, last && st.Looked < n, err
		}
	}
	return Step{}, true, nil
}

// budget ends a walk that finds too little.
type budget struct {
	looked int
	until  time.Time
	clock  func() time.Time
}

func newBudget(now time.Time, clock func() time.Time) budget {
	return budget{looked: maxLooked, until: now.Add(maxWalk), clock: clock}
}

// spend takes a step off and reports whether another like it has no room.
func (b *budget) spend(looked int, began time.Time) (spent bool) {
	now := b.clock()
	b.looked -= looked
	return b.looked <= 0 || !now.Add(now.Sub(began)).Before(b.until)
}

// walk collects one page.
type walk struct {
	steps   stepper
	limit   int
	horizon Horizon
	budget  budget
	space   space
	after   Place
	resumed bool

	rows []Row
	end  bool
}

func (w *walk) run(ctx context.Context) error {
	if !w.resumed {
		w.after = w.steps.first()
	}
	for {
		if err := w.space.grow(); err != nil {
			return err
		}
		began := w.budget.clock()
		st, end, err := w.steps.step(ctx, w.after, w.limit-len(w.rows)+1, w.space.left())
		if err != nil {
			return err
		}
		if full := w.take(st.Rows); full {
			return nil
		}
		w.end = end
		if spent := w.budget.spend(st.Looked, began); end || spent {
			return nil
		}
	}
}

// take adds rows until the page is full. Whether there is a next page is known
// by the row that had no more room; the first row always has.
func (w *walk) take(rows []Row) (full bool) {
	w.rows = slices.Grow(w.rows, min(len(rows), w.limit-len(w.rows)))
	for _, r := range rows {
		if r.View != nil && r.browsable(w.horizon) {
			size := len(r.View) + liveRoom
			if !w.room(size) {
				return true
			}
			w.space.bytes += size
			w.rows = append(w.rows, r)
		}
		w.after = r.Place
	}
	return false
}

func (w *walk) room(n int) bool {
	return len(w.rows) == 0 || len(w.rows) < w.limit && w.space.bytes+n <= MaxPageBytes
}

// page shapes the answer. One that is whole is in the order of ranks, whatever
// order it was read in.
func (w *walk) page(q Question) Page {
	p := Page{Limit: w.limit, Count: len(w.rows), rows: w.rows, bytes: w.space.bytes, horizon: w.horizon}
	if !w.end {
		p.Next = encodeCursor(q.String(), w.after)
	}
	if w.end && !w.resumed && !w.steps.ranked() {
		slices.SortFunc(w.rows, func(a, b Row) int { return ByRank(a.Place, b.Place) })
	}
	return p
}
