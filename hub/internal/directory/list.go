package directory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/capability"
)

// Row is a place of a list and the agent there. View is nil where the agent
// does not answer the question, or was shown at an earlier place. One that is
// Gone has no signs of life to show.
type Row struct {
	Place    Place
	View     []byte
	LastSeen time.Time
	Gone     bool
}

func (r Row) life() Life { return Life{RegisteredAt: r.Place.RegisteredAt, LastSeen: r.LastSeen} }

// lifeless reports whether the view is all there is to show: whether an agent of
// another hub is alive is known there.
func (r Row) lifeless() bool { return r.Gone || r.Place.Elsewhere() }

// browsable reports whether lists show the row. Those of other hubs leave the
// index with the peer that told of them.
func (r Row) browsable(h Horizon) bool { return r.Place.Elsewhere() || r.life().Browsable(h) }

// Step is one bounded read of a list. Its last row stands for the last place
// looked at even when it has no view; rows in between without one may be left
// out. Looked is smaller than what was asked for only at the end of the list; a
// step that stopped because its views were many bytes counts as whole.
type Step struct {
	Rows   []Row
	Looked int
}

// Lists reads the directory in its orders. Every method looks at no more than n
// places behind after, and stops once the views it read have more than most
// bytes; it always reads one.
type Lists interface {
	// Ranked reads the agents that offer one of caps, in the order of ranks.
	// The empty id stands for anything at all.
	Ranked(ctx context.Context, caps []string, after Place, n, most int) (Step, error)

	// InRange reads the capabilities behind after and before ranges[i].Until, in
	// their order and within one in that of ranks. An agent answers where its
	// smallest capability in any of the ranges stands.
	InRange(ctx context.Context, ranges []Range, i int, after Place, n, most int) (Step, error)

	// Search reads the listed agents whose search text holds text, in the
	// order of ranks.
	Search(ctx context.Context, text string, after Place, n, most int) (Step, error)
}

// Page is an answer to a question.
type Page struct {
	Count int
	Limit int
	Next  string // the cursor of the next page, empty at the end

	rows    []Row
	bytes   int
	horizon Horizon
}

// Size is how many bytes AppendViews adds at most.
func (p Page) Size() int { return p.bytes + p.Count }

// AppendViews writes the agents as JSON, separated by commas.
func (p Page) AppendViews(out []byte) []byte {
	for i, r := range p.rows {
		if i > 0 {
			out = append(out, ',')
		}
		if r.lifeless() {
			out = append(out, r.View...)
			continue
		}
		out = appendLive(out, r.View, r.life(), p.horizon)
	}
	return out
}

// List answers a question from the place its cursor names.
func (d *Directory) List(ctx context.Context, q Question, limit int, cursor string, reserve Reserve) (Page, error) {
	now := d.now()
	w := walk{steps: d.steps(q), limit: limit, horizon: d.life.Horizon(now), budget: newBudget(now, d.now),
		space: space{usual: limit * usualView, reserve: reserve}}
	if cursor != "" {
		place, err := decodeCursor(q.String(), cursor)
		if err != nil {
			return Page{}, err
		}
		w.after, w.resumed = place, true
	}
	if err := w.run(ctx); err != nil {
		return Page{}, err
	}
	// The last view read may be larger than what there was room for.
	return w.page(q), w.space.grow()
}

// steps chooses how the question is walked.
func (d *Directory) steps(q Question) stepper {
	switch {
	case q.kind == byText:
		return &textSteps{lists: d.store, text: q.text}
	case q.caps.Everyone():
		return &rankedSteps{lists: d.store, caps: []string{""}}
	case len(q.caps.Prefixes()) == 0:
		return &rankedSteps{lists: d.store, caps: q.caps.Exact()}
	default:
		return &rangeSteps{lists: d.store, ranges: rangesOf(q.caps)}
	}
}

// Range holds the capability ids from From up to, but not including, Until.
type Range struct{ From, Until string }

// beyond is greater than every capability id.
var beyond = string(slices.Repeat([]rune{'\U0010FFFF'}, capability.MaxLen/4+1))

// rangesOf are the index ranges of an expression, ascending. An exact id is the
// range up to the next text there could be; as ids hold no control characters,
// nothing but the id is in it.
func rangesOf(e capability.Expr) []Range {
	var ranges []Range
	for _, id := range e.Exact() {
		ranges = append(ranges, Range{From: id, Until: id + "\x01"})
	}
	for _, p := range e.Prefixes() {
		until, ok := capability.UpperBound(p)
		if !ok {
			until = beyond
		}
		ranges = append(ranges, Range{From: p, Until: until})
	}
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	return ranges
}
