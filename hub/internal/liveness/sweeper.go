package liveness

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// tourIn is how long after the begin of one tour over all agents the next one
// begins. Lists pass over who is due and not swept yet, so nobody waits for it.
func tourIn(hidden time.Duration) time.Duration { return min(time.Hour, hidden/8) }

// Step is the next few agents of a tour.
type Step struct {
	Before time.Time // who was last heard of then, or earlier, is to be away
	Now    time.Time
	Every  time.Duration // the time from one tour to the next
}

// Swept is what a step did. Done means that the tour is over, or that another
// process is at it.
type Swept struct {
	Hidden, Back int
	Done         bool
}

// Tour keeps how far the sweep has come, for all processes.
type Tour interface {
	// Sweep takes one bounded step in one transaction: who is due is away from
	// then on, and in no list; who is away and was heard of since is back.
	Sweep(ctx context.Context, s Step) (Swept, error)

	// Lift deletes some blocks that have ended, and lists whom they hid.
	Lift(ctx context.Context, now time.Time) error
}

// Sweeper takes agents that nobody hears of out of the lists. Any number of
// processes may run one; together they make one tour.
type Sweeper struct {
	tour     Tour
	presence *Presence
	now      func() time.Time
	log      *slog.Logger
	counts   *Counts
}

// NewSweeper makes a sweeper; it works while Run runs.
func NewSweeper(tour Tour, p *Presence, c *Counts, now func() time.Time, log *slog.Logger) *Sweeper {
	return &Sweeper{tour: tour, presence: p, now: now, log: log, counts: c}
}

// Run sweeps until ctx ends. Between two steps it rests as long as one took, so
// that a tour of a million agents leaves the database to requests.
func (s *Sweeper) Run(ctx context.Context) error {
	pause := min(time.Minute, tourIn(s.presence.ages.Hidden)/4)
	next := time.NewTimer(pause)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		began := time.Now()
		swept, err := s.Step(ctx)
		err = errors.Join(err, s.tour.Lift(ctx, s.now()))
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the directory was not swept, trying again", "error", err)
		}
		if err != nil || swept.Done {
			next.Reset(pause)
		} else {
			next.Reset(time.Since(began))
		}
	}
}

// Step takes one step of the tour.
func (s *Sweeper) Step(ctx context.Context) (Swept, error) {
	now := s.now()
	swept, err := s.tour.Sweep(ctx, Step{
		Before: s.presence.Horizon(now).Hidden, Now: now, Every: tourIn(s.presence.ages.Hidden),
	})
	if err == nil {
		s.counts.swept.Add(float64(swept.Hidden))
		s.counts.back.Add(float64(swept.Back))
	}
	return swept, err
}

// Counts are the metrics of who comes and goes.
type Counts struct{ swept, back prometheus.Counter }

// NewCounts registers them.
func NewCounts(reg prometheus.Registerer) *Counts {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "anet_hub_agents_" + name + "_total", Help: help})
	}
	c := &Counts{
		swept: count("swept", "Agents taken out of the lists by this process, for they had not polled for long."),
		back:  count("back", "Agents that polled again, and that this process put back into the lists."),
	}
	reg.MustRegister(c.swept, c.back)
	return c
}
