package feed

import (
	"context"
	"log/slog"
	"time"
)

// Numbers gives out the numbers of the streams of cards.
type Numbers interface {
	// Number moves up to n changed agents to the heads of their streams, or takes
	// them back, and gives how many it looked at: none while another process is at
	// it. What a peer then sees, it sees in the order of the numbers.
	Number(ctx context.Context, now time.Time, n int) (looked int, err error)
}

const (
	// batch is how many agents one transaction moves: a few milliseconds of the
	// database.
	batch = 500
	// every is how late a change of another process is told at most.
	every = time.Second
	// gather is how long one waits for more changes when there is one.
	gather = 20 * time.Millisecond
)

// Numberer gives changed entries their numbers. Any number of processes may run
// one; together they are one.
type Numberer struct {
	numbers Numbers
	marked  <-chan struct{}
	now     func() time.Time
	log     *slog.Logger
}

// NewNumberer makes a numberer that works while Run runs. marked tells of changes
// in this process.
func NewNumberer(numbers Numbers, marked <-chan struct{}, now func() time.Time, log *slog.Logger) *Numberer {
	return &Numberer{numbers: numbers, marked: marked, now: now, log: log}
}

// Run numbers until ctx ends.
func (n *Numberer) Run(ctx context.Context) error {
	next := time.NewTimer(0)
	defer next.Stop()
	marked := n.marked
	for failing := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-marked:
			next.Reset(gather)
			marked = nil // more changes do not put it off
			continue
		case <-next.C:
		}
		marked = n.marked
		err := n.Catch(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			n.log.Warn("what peers are told is not up to date, trying again", "error", err)
		}
		failing = err != nil
		next.Reset(every)
	}
}

// Catch gives out numbers until nothing that changed is left.
func (n *Numberer) Catch(ctx context.Context) error {
	for {
		looked, err := n.numbers.Number(ctx, n.now(), batch)
		if err != nil || looked < batch {
			return err
		}
	}
}
