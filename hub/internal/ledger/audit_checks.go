package ledger

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// maxFindings is how many of one kind are told.
const maxFindings = 5

// begin begins a check of something.
type begin func(what string, holds func() error)

// checks go on side by side, on every processor: an audit is signatures above all.
type checks struct {
	queue chan check
	done  sync.WaitGroup

	mu     sync.Mutex
	failed []failed // the first few, in the order in which they were begun
}

type check struct {
	n     int
	what  string
	holds func() error
}

type failed struct {
	n    int
	says string
}

// checking has the checks made that do begins, and adds what they find. As much is in
// flight as keeps everybody at work, so that books of any size fit.
func (r *Report) checking(do func(begin) error) error {
	side := runtime.GOMAXPROCS(0)
	c := checks{queue: make(chan check, 4*side)}
	for range side {
		c.done.Go(c.run)
	}
	n := 0
	err := do(func(what string, holds func() error) {
		c.queue <- check{n, what, holds}
		n++
	})
	close(c.queue)
	c.done.Wait()
	for _, f := range c.failed {
		r.Wrong = append(r.Wrong, f.says)
	}
	return err
}

func (c *checks) run() {
	for check := range c.queue {
		if err := check.holds(); err != nil {
			c.note(failed{check.n, check.what + " does not hold: " + err.Error()})
		}
	}
}

func (c *checks) note(f failed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _ := slices.BinarySearchFunc(c.failed, f.n, func(f failed, n int) int { return cmp.Compare(f.n, n) })
	c.failed = slices.Insert(c.failed, at, f)
	c.failed = c.failed[:min(len(c.failed), maxFindings)]
}
