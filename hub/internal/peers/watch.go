package peers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// watching is how old what a Watch tells may be, beside the time of one look.
const watching = 10 * time.Second

// Reports keep how peers do.
type Reports interface {
	// Standings gives every peer in table order.
	Standings(ctx context.Context) ([]Standing, error)
	// Progress tells how far the peer's streams were read.
	Progress(ctx context.Context, id int64) ([]Progress, error)
}

// Watch holds how peers do, for metrics and pages: who looks at those asks no
// database, and a database that is away takes nothing from them.
type Watch struct {
	table    *Table
	circuits *Circuits
	store    Reports
	log      *slog.Logger
	now      func() time.Time
	held     atomic.Pointer[map[int64]record]
}

// record is what the database holds of a peer.
type record struct {
	Standing
	streams []Progress
}

// NewWatch makes a watch that knows the table alone until its first Look.
func NewWatch(t *Table, c *Circuits, store Reports, now func() time.Time, log *slog.Logger) *Watch {
	w := &Watch{table: t, circuits: c, store: store, now: now, log: log}
	w.held.Store(&map[int64]record{})
	return w
}

// Look reads how peers do.
func (w *Watch) Look(ctx context.Context) error {
	list, err := w.store.Standings(ctx)
	if err != nil {
		return err
	}
	next := make(map[int64]record, len(list))
	for _, s := range list {
		streams, err := w.store.Progress(ctx, s.ID)
		if err != nil {
			return err
		}
		next[s.ID] = record{s, streams}
	}
	w.held.Store(&next)
	return nil
}

// Run looks again and again until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(watching)
	defer tick.Stop()
	for failing := false; ; {
		err := w.Look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !failing {
			w.log.Warn("how peers do is not known just now", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Report is how a peer does, as far as this process knows.
type Report struct {
	Peer
	State
	AddedAt time.Time // zero until the first look that found it
	Streams []Progress
}

// Reports gives all in table order: of peers that are gone nothing is left.
func (w *Watch) Reports() []Report {
	held := *w.held.Load()
	list := w.table.All()
	out := make([]Report, 0, len(list))
	for _, p := range list {
		r, state := held[p.ID], w.circuits.State(p.ID)
		state.LastSuccess = latest(state.LastSuccess, r.LastSuccess)
		out = append(out, Report{p, state, r.AddedAt, r.streams})
	}
	return out
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Faces gives what everyone may know of peers.
func (w *Watch) Faces() (out []Face) {
	for _, r := range w.Reports() {
		if f, shown := w.table.face(r); shown {
			out = append(out, f)
		}
	}
	return out
}
