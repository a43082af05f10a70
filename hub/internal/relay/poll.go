package relay

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/errs"
)

const (
	defaultPage = 100
	maxPage     = 1000
	maxAck      = 10_000
)

// Query is a poll. Wait is how long an empty answer may be held back.
type Query struct {
	After int64
	Limit int
	Wait  time.Duration
}

// Reserve takes memory for an answer before it is read from the database.
type Reserve func(bytes int64) error

// Poll gives the signer's mail, and waits for some when there is none. The wait
// holds no connection; it ends with an empty page when the hub stops.
func (r *Relay) Poll(ctx context.Context, p replay.Proof, q Query, reserve Reserve) ([]Message, error) {
	look, err := q.look(p.AID)
	if err != nil {
		return nil, err
	}
	// Registered before the first look: what arrives in between wakes it.
	w := r.Board.Wait(wake.Place{AID: p.AID, After: q.After})
	defer w.Stop()
	found, err := r.Store.Poll(ctx, p, look)
	if err != nil {
		return nil, err
	}
	r.Seen.Seen(p.AID, r.Now())
	if len(found) == 0 && q.Wait > 0 {
		found, err = r.await(ctx, w, look, q.Wait)
	}
	if err != nil {
		return nil, err
	}
	return r.page(ctx, p.AID, found, reserve)
}

func (q Query) look(aid string) (Look, error) {
	if q.After < 0 {
		return Look{}, errs.New(errs.Invalid, "bad_after_id", "after_id must not be negative").In("after_id")
	}
	limit := min(q.Limit, maxPage)
	if limit <= 0 {
		limit = defaultPage
	}
	return Look{AID: aid, After: q.After, Limit: limit}, nil
}

// await looks again whenever mail may have come, unless it was handed over.
func (r *Relay) await(ctx context.Context, w *wake.Waiter, look Look, d time.Duration) ([]Message, error) {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for w.Next(waiting) {
		if l := w.Letter(); l != nil && l.ID > look.After {
			return []Message{{ID: l.ID, Size: int64(len(l.Envelope)), Envelope: l.Envelope}}, nil
		}
		found, err := r.Store.Look(ctx, look)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, ctx.Err()
}

// page completes what fits into one answer.
func (r *Relay) page(ctx context.Context, aid string, found []Message, reserve Reserve) ([]Message, error) {
	found, bytes := fit(found, r.Limits.PollBudget)
	if err := reserve(bytes); err != nil {
		return nil, err
	}
	split := len(found)
	var missing []int64
	for i, m := range found {
		if m.Envelope == nil {
			split = min(split, i)
			missing = append(missing, m.ID)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	rest, err := r.Store.Fetch(ctx, aid, missing)
	return append(found[:split], rest...), err
}

// fit cuts what exceeds the budget, but for the first message: if one that is
// larger than all of it were left out, its mailbox would give nothing any more.
func fit(found []Message, budget int64) ([]Message, int64) {
	var sum int64
	for i, m := range found {
		if i > 0 && sum+m.Size > budget {
			return found[:i], sum
		}
		sum += m.Size
	}
	return found, sum
}

// Ack deletes messages of the signer's own mailbox. Ids it doesn't hold are
// skipped.
func (r *Relay) Ack(ctx context.Context, p replay.Proof, ids []int64) (int64, error) {
	if len(ids) > maxAck {
		return 0, errs.New(errs.Invalid, "too_many_ids", "%d ids, at most %d are taken at once", len(ids), maxAck).In("ids")
	}
	n, bytes, err := r.Store.Ack(ctx, p, ids)
	if err != nil {
		return 0, err
	}
	r.held.add(-n, -bytes)
	r.metrics.acked.Add(float64(n))
	return n, nil
}
