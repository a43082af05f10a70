package liveness

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// Absence is a time in which no process of the hub was up.
type Absence struct{ Began, Ended time.Time }

// Stretch moves a time back by what the hub was away since then: agents could
// not poll meanwhile, so they get as long again. newest is in the order of its
// name.
func Stretch(before time.Time, newest []Absence) time.Time {
	for _, a := range newest {
		if !a.Ended.After(before) {
			break
		}
		before = before.Add(-a.Ended.Sub(a.Began))
	}
	return before
}

// gapIn is how long the hub may be silent before that counts as an absence:
// longer than a restart takes, and little beside the time that it is taken from.
func gapIn(hidden time.Duration) time.Duration { return min(5*time.Minute, hidden/6) }

// Heart keeps the hub's own signs of life.
type Heart interface {
	// Beat notes that a process of the hub is up at a time. Where the beat before
	// it, of any process, is longer than gap ago, that was an absence. ages are what it is
	// set to.
	Beat(ctx context.Context, now time.Time, gap time.Duration, ages directory.Ages) error
	// Absences gives them, the newest first, with the one that lasts if there is.
	Absences(ctx context.Context, now time.Time, gap time.Duration) ([]Absence, error)
}

// Presence notes that the hub is up, and knows since when an agent has to have
// been silent, in time that the hub was up, to be hidden.
type Presence struct {
	heart  Heart
	ages   directory.Ages
	now    func() time.Time
	log    *slog.Logger
	absent atomic.Pointer[[]Absence]
}

// NewPresence makes one. Beat has to be called once before anything relies on it,
// then Run keeps it.
func NewPresence(heart Heart, ages directory.Ages, now func() time.Time, log *slog.Logger) *Presence {
	p := &Presence{heart: heart, ages: ages, now: now, log: log}
	p.absent.Store(&[]Absence{})
	return p
}

// Ages are what the hub is set to.
func (p *Presence) Ages() directory.Ages { return p.ages }

// Horizon is what they come down to. Only hiding takes absences into account: who
// has not polled since the hub is back is quiet, whatever the reason.
func (p *Presence) Horizon(now time.Time) directory.Horizon {
	h := p.ages.Horizon(now)
	h.Hidden = Stretch(h.Hidden, *p.absent.Load())
	return h
}

// Beat notes that the hub is up.
func (p *Presence) Beat(ctx context.Context) error {
	if err := p.heart.Beat(ctx, p.now(), gapIn(p.ages.Hidden), p.ages); err != nil {
		return err
	}
	return p.Look(ctx)
}

// Look learns when the hub was up, for a program that is no process of it.
func (p *Presence) Look(ctx context.Context) error {
	absent, err := p.heart.Absences(ctx, p.now(), gapIn(p.ages.Hidden))
	if err == nil {
		p.absent.Store(&absent)
	}
	return err
}

// Run beats until ctx ends.
func (p *Presence) Run(ctx context.Context) error {
	return upkeep.Every(ctx, gapIn(p.ages.Hidden)/5, p.log, "the hub's sign of life was not written, trying again", p.Beat)
}
