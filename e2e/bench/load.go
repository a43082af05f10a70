package main

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/e2e/stage"
)

// side is one of the things that are compared: do works once, on behalf of one
// of the workers.
type side struct {
	name string
	do   func(worker int) error
}

// outcome is what one side reached in operations a second, and spent on it.
type outcome struct {
	sample
	cost string // of one, in words
}

func (o outcome) String() string { return o.sample.String() + "/s, " + o.cost }

// compare floods the sides in turns. h is the hub whose CPU time is counted.
func compare(t testing.TB, o options, h *stage.HubProcess, sides ...side) []outcome {
	t.Helper()
	for _, s := range sides { // caches and connections
		_, err := flood(o.Workers, o.Time/4, s.do)
		stage.Must(t, err)
	}
	out, costs := make([]outcome, len(sides)), make([]spent, len(sides))
	for range o.Rounds {
		for i, s := range sides {
			before := spentBy(h)
			rate, err := flood(o.Workers, o.Time, s.do)
			stage.Must(t, err)
			costs[i].add(before, spentBy(h))
			out[i].sample = append(out[i].sample, rate)
		}
	}
	for i, s := range sides {
		out[i].cost = costs[i].each(out[i].sum() * o.Time.Seconds())
		say("  %-28s %s", s.name, out[i])
	}
	return out
}

// flood keeps all workers busy for a while.
func flood(workers int, d time.Duration, do func(worker int) error) (perSecond float64, err error) {
	var g errgroup.Group
	var n atomic.Int64
	start := time.Now()
	for w := range workers {
		g.Go(func() error {
			for time.Since(start) < d {
				if err := do(w); err != nil {
					return err
				}
				n.Add(1)
			}
			return nil
		})
	}
	err = g.Wait()
	return float64(n.Load()) / time.Since(start).Seconds(), err
}

// pace asks at a given rate whatever the answers do, and gives how long each
// took from the moment it was due: a slow answer is not made up for by asking less.
// Each is due at some moment within its turn. In step, two rates of which one is a
// multiple of the other would meet at every beat, or never.
func pace(workers int, d time.Duration, perSecond float64, do func(worker int) error) ([]time.Duration, error) {
	var g errgroup.Group
	every := time.Duration(float64(workers) / perSecond * float64(time.Second))
	took := make([][]time.Duration, workers)
	start := time.Now()
	for w := range workers {
		g.Go(func() error {
			turn := start.Add(every * time.Duration(w) / time.Duration(workers))
			for ; turn.Sub(start) < d; turn = turn.Add(every) {
				due := turn.Add(rand.N(every / time.Duration(workers)))
				time.Sleep(time.Until(due))
				if err := do(w); err != nil {
					return err
				}
				took[w] = append(took[w], time.Since(due))
			}
			return nil
		})
	}
	err := g.Wait()
	var all []time.Duration
	for _, t := range took {
		all = append(all, t...)
	}
	return all, err
}

// timed asks one after the other and gives how long each took.
func timed(n int, do func(i int) error) (took []time.Duration, err error) {
	for i := range n {
		start := time.Now()
		if err := do(i); err != nil {
			return took, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}
