package reviews

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anet-hub/anet/hub/internal/cursor"
	"github.com/anet-hub/anet/shared/wire"
)

// Sizes of a page of an agent's reviews, and what one takes in memory at most:
// as it is stored, read and shown.
const (
	DefaultPage = 100
	MaxPage     = 1000
	Bytes       = 8 << 10
)

// Page is one page of an agent's reviews, the latest first.
type Page struct {
	Reviews []wire.Review
	Next    string // the cursor of the next page, empty at the end
}

// Of gives the reviews of an agent behind a cursor.
func (r *Reviews) Of(ctx context.Context, aid string, limit int, from string) (p Page, err error) {
	before := int64(math.MaxInt64)
	if from != "" {
		if before, err = openCursor("reviews of "+aid, from); err != nil {
			return p, err
		}
	}
	kept, err := r.store.Of(ctx, aid, before, limit+1)
	if err != nil {
		return p, err
	}
	if len(kept) > limit {
		kept = kept[:limit]
		p.Next = sealCursor("reviews of "+aid, kept[limit-1].Seq)
	}
	p.Reviews, err = views(kept)
	return p, err
}

func views(kept []Kept) ([]wire.Review, error) {
	out := make([]wire.Review, len(kept))
	for i, k := range kept {
		v, err := Parse(k.Receipt, k.Word)
		if err != nil {
			return nil, fmt.Errorf("read review %d: %v", k.Seq, err) // no refusal of this request
		}
		out[i] = v.View()
	}
	return out, nil
}

// edges is the question that cursors of Edges belong to.
const edges = "edges"

// Edges gives who rated whom behind a cursor, in the order it was taken in.
func (r *Reviews) Edges(ctx context.Context, limit int, from string) (list []Edge, end bool, err error) {
	after := int64(0)
	if from != "" {
		if after, err = openCursor(edges, from); err != nil {
			return nil, false, err
		}
	}
	list, err = r.store.Edges(ctx, after, limit+1)
	if len(list) > limit {
		return list[:limit], false, err
	}
	return list, true, err
}

// After is the cursor of the edges behind one.
func (e Edge) After() string { return sealCursor(edges, e.Seq) }

func sealCursor(question string, seq int64) string {
	return cursor.Seal(question, binary.BigEndian.AppendUint64(nil, uint64(seq)))
}

func openCursor(question, written string) (seq int64, err error) {
	place, ok := cursor.Open(question, written)
	if ok && len(place) == 8 {
		seq = int64(binary.BigEndian.Uint64(place))
	}
	if seq < 1 {
		return 0, cursor.Invalid()
	}
	return seq, nil
}

// Between keeps edges as far as both their agents are shown, and tells whether
// that is the end of the list.
func Between(list []Edge, end bool, shown func(aid string) bool) ([]Edge, bool) {
	for i, e := range list {
		if !shown(e.Reviewer) || !shown(e.Subject) {
			return list[:i], false
		}
	}
	return list, end
}

// Tell adds what reviews are held to.
func (r *Reviews) Tell(l *wire.Limits) {
	l.Pages["reviews"] = wire.PageLimit{Default: DefaultPage, Most: MaxPage, Bytes: MaxPage * Bytes}
}
