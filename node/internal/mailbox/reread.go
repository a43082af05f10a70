package mailbox

import (
	"sync"
	"time"
)

// The pace of reading again: soon at first, as most of what waits waits for a
// message that is about to come, then less and less often.
const (
	rereadFirst = 10 * time.Second
	rereadCap   = 5 * time.Minute
)

// reread knows the messages that could not be decided and when to look at them
// again. It goes by time and not by rounds: rounds come as fast as mail does.
type reread struct {
	mu      *sync.Mutex
	waiting map[int64]bool // true once seen in the pass under way
	next    time.Time
	pause   time.Duration
}

func newReread() reread {
	return reread{mu: &sync.Mutex{}, waiting: map[int64]bool{}, pause: rereadFirst}
}

// add notes a message. One that was not known makes the pace quick again.
func (r *reread) add(id int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.waiting[id]; !known {
		r.pause = rereadFirst
		r.next = now.Add(r.pause)
	}
	r.waiting[id] = true
}

func (r *reread) remove(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
}

func (r *reread) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

func (r *reread) due(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) > 0 && !now.Before(r.next)
}

// until is how long a poll may wait without delaying the next pass.
func (r *reread) until(now time.Time, most time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return most
	}
	return min(most, max(0, r.next.Sub(now)))
}

// start begins a pass: it sets the time of the one after and gives the id
// before the first that waits.
func (r *reread) start(now time.Time) (after int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = now.Add(r.pause)
	r.pause = min(2*r.pause, rereadCap)
	first := true
	for id := range r.waiting {
		r.waiting[id] = false
		if first || id-1 < after {
			after, first = id-1, false
		}
	}
	return after
}

// finish ends a pass: what the hub no longer has, it has expired.
func (r *reread) finish(upTo int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, seen := range r.waiting {
		if !seen && id <= upTo {
			delete(r.waiting, id)
		}
	}
}
