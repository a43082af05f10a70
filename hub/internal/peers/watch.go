package peers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// watching is how old what a Watch tells may be, beside the time of one look.
const watching = 10 * time.Second

// Records keep how peers do.
type Records interface {
	// Records gives what is on record of each peer, by its id.
	Records(ctx context.Context) (map[int64]Record, error)
}

// Record is what the database holds of how a peer does.
type Record struct {
	AddedAt     time.Time
	LastSuccess time.Time // of a fetch of its identity
	Agents      int64     // known from it
	Streams     []Reading
}

// Reading is a stream of a peer.
type Reading struct {
	Stream Stream
	LastOK time.Time // when it was last read to its end; zero: never
	Held   int64     // entries that are refused for now
}

// Watch holds how peers do, for metrics and pages: who looks at those asks no
// database, and a database that is away takes nothing from them.
type Watch struct {
	table    *Table
	circuits *Circuits
	store    Records
	log      *slog.Logger
	now      func() time.Time
	held     atomic.Pointer[map[int64]Record]
}

// NewWatch makes a watch that knows the table alone until its first Look.
func NewWatch(t *Table, c *Circuits, store Records, now func() time.Time, log *slog.Logger) *Watch {
	w := &Watch{table: t, circuits: c, store: store, now: now, log: log}
	w.held.Store(&map[int64]Record{})
	return w
}

// Look reads how peers do.
func (w *Watch) Look(ctx context.Context) error {
	next, err := w.store.Records(ctx)
	if err == nil {
		w.held.Store(&next)
	}
	return err
}

// Run looks again and again until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	return upkeep.AtOnce(ctx, watching, w.log, "how peers do is not known just now", w.Look)
}

// Report is how a peer does, as far as this process knows. AddedAt is zero until
// a look has found it.
type Report struct {
	Peer
	Record
	Open bool // this process calls it no more until it answers
}

// Reports gives all in table order: of peers that are gone nothing is left.
func (w *Watch) Reports() []Report {
	held := *w.held.Load()
	list := w.table.All()
	out := make([]Report, 0, len(list))
	for _, p := range list {
		r, state := held[p.ID], w.circuits.State(p.ID)
		r.LastSuccess = latest(r.LastSuccess, state.LastSuccess)
		out = append(out, Report{p, r, state.Open})
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
