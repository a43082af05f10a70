// Package outbox gets this node's messages to the hub: sealed once, sent in the
// order of their task, tried again until they expire (wire 2, L.7).
//
// The one rule: a message is put in by the transaction that decides it (Post),
// so what was decided is sent, and what was not decided never is.
package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Hub takes envelopes. Of a failed attempt it says whether the envelope may
// have arrived all the same.
type Hub interface {
	Send(ctx context.Context, to string, env []byte) (mayHaveArrived bool, err error)
}

// Finder finds the key to seal to, asking the hub where it has to.
type Finder interface {
	Find(ctx context.Context, aid string, belongs bool) (known.Identity, error)
}

// Lost decides, in the transaction that takes a message out, what follows from
// its never being delivered. Why is the hub's reason, or Expired.
type Lost func(tx *journal.Tx, o journal.Outgoing, why string) error

// Expired is why a message was given up after its lifetime.
const Expired = "expired"

// lanes is how many messages are under way at once.
const lanes = 4

// Outbox is the queue at work.
type Outbox struct {
	Journal *journal.Journal
	Hub     Hub
	Finder  Finder
	Sealer  Sealer
	Lost    Lost
	Log     *slog.Logger
	Now     func() time.Time

	notices chan journal.Outgoing
	once    sync.Once
}

// Draft is a message to be sent in a task.
type Draft struct {
	Task, Peer, Type string
	Body             []byte
	To               known.Identity // the recipient as far as it is known
}

// Post puts a message in. With a usable key it is sealed here, and otherwise
// when one is found.
func (b *Outbox) Post(tx *journal.Tx, d Draft) error {
	mid := envelope.NewMID()
	_, err := b.PostAs(tx, d, mid)
	return err
}

// PostAs is Post for who has to know the message's id.
func (b *Outbox) PostAs(tx *journal.Tx, d Draft, mid envelope.MID) (journal.Outgoing, error) {
	o := journal.Outgoing{
		Task: d.Task, Peer: d.Peer, MID: mid[:], Type: d.Type, Body: d.Body,
		Exp: tx.Now().Add(envelope.Lifetime),
	}
	if sealed, exp, err := b.Sealer.Seal(o, d.To, tx.Now()); err == nil {
		o.Body, o.Sealed, o.Exp = nil, sealed, exp
	} else if !keyless(err) {
		return o, err
	}
	return o, tx.Enqueue(&o)
}

// keyless reports whether sealing failed for want of a key only.
func keyless(err error) bool {
	switch envelope.ReasonOf(err) {
	case envelope.NoUsableKey, envelope.BadKeySet, envelope.BadKeyState, envelope.BadKEL, envelope.RevokedKey, envelope.AIDMismatch, envelope.BadSig:
		return true
	}
	return false
}

// Run sends what is due until ctx ends, and then waits for the attempts under
// way.
func (b *Outbox) Run(ctx context.Context) error {
	r := &round{box: b, busy: map[int64]bool{}, free: make(chan struct{}, 1)}
	defer r.wg.Wait()
	go b.runNotices(ctx)
	for {
		queued := b.Journal.Queued()
		next, err := r.start(ctx)
		if err != nil {
			b.Log.Error("outbox: cannot read the journal", "error", err)
			next = b.Now().Add(errorPause)
		}
		if !b.wait(ctx, queued, r.free, next) {
			return nil
		}
	}
}

// errorPause is the pace while the journal itself cannot be read.
const errorPause = 10 * time.Second

// idlePause bounds a wait: a clock that was set must not put a message off for
// days.
const idlePause = 10 * time.Minute

func (b *Outbox) wait(ctx context.Context, queued, free <-chan struct{}, next time.Time) bool {
	pause := idlePause
	if !next.IsZero() {
		pause = min(max(next.Sub(b.Now()), 0), idlePause)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-queued:
	case <-free:
	case <-t.C:
	}
	return true
}

// round keeps which messages are under way.
type round struct {
	box  *Outbox
	mu   sync.Mutex
	busy map[int64]bool
	free chan struct{}
	wg   sync.WaitGroup
}

// start begins what is due and free to go, and says when the next one becomes
// due, zero when none does by time.
func (r *round) start(ctx context.Context) (next time.Time, err error) {
	var due []journal.Outgoing
	err = r.box.Journal.Read(ctx, func(tx *journal.Tx) error {
		if due, err = tx.Due(2 * lanes); err != nil {
			return err
		}
		next, _, err = tx.NextDue()
		return err
	})
	for _, o := range due {
		if r.begin(o.ID) {
			r.wg.Go(func() { defer r.end(o.ID); r.box.attempt(ctx, o) })
		}
	}
	return next, err
}

func (r *round) begin(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[id] || len(r.busy) >= lanes {
		return false
	}
	r.busy[id] = true
	return true
}

func (r *round) end(id int64) {
	r.mu.Lock()
	delete(r.busy, id)
	r.mu.Unlock()
	select {
	case r.free <- struct{}{}:
	default:
	}
}

// attempt tries one message once and records what came of it. A failure to
// record leaves the message as it was: it is tried again, with the same bytes.
func (b *Outbox) attempt(ctx context.Context, o journal.Outgoing) {
	if err := b.try(ctx, o); err != nil && ctx.Err() == nil {
		b.Log.Error("outbox: cannot record an attempt", "error", err)
		pause(ctx, errorPause)
	}
}

func (b *Outbox) try(ctx context.Context, o journal.Outgoing) error {
	if !b.Now().Before(o.Exp) {
		return b.lose(ctx, o, Expired)
	}
	ready, err := b.ready(ctx, &o)
	if err != nil {
		return b.failed(ctx, o, o.Uncertain, err)
	}
	if !ready {
		return nil
	}
	arrived, err := b.Hub.Send(ctx, o.Peer, o.Sealed)
	if err != nil {
		return b.failed(ctx, o, o.Uncertain || arrived, err)
	}
	return b.sent(ctx, o)
}

// ready seals a draft and counts the attempt, both on disk before anything is
// sent. False when the message was withdrawn meanwhile.
func (b *Outbox) ready(ctx context.Context, o *journal.Outgoing) (ready bool, err error) {
	write := b.Journal.WriteSoon
	if o.Sealed == nil {
		if err := b.seal(ctx, o); err != nil {
			return false, err
		}
		write = b.Journal.Write // a second sealing after a crash would be other bytes
	}
	err = write(ctx, func(tx *journal.Tx) error {
		if err := tx.Seal(o.ID, o.Sealed, o.Exp); err != nil {
			return err
		}
		ready, err = tx.Attempting(o.ID)
		return err
	})
	return ready, err
}

func (b *Outbox) seal(ctx context.Context, o *journal.Outgoing) error {
	belongs, err := b.ours(ctx, o.Task)
	if err != nil {
		return err
	}
	to, err := b.Finder.Find(ctx, o.Peer, belongs)
	if err != nil {
		return err
	}
	o.Sealed, o.Exp, err = b.Sealer.Seal(*o, to, b.Now())
	return err
}

// ours reports whether this node is the requester of the task.
func (b *Outbox) ours(ctx context.Context, id string) (ours bool, err error) {
	err = b.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, found, err := tx.Task(id)
		ours = found && k.Role == journal.Requester
		return err
	})
	return ours, err
}

// sent records a delivery to the hub. A result is kept for whoever asks again.
func (b *Outbox) sent(ctx context.Context, o journal.Outgoing) error {
	return b.Journal.WriteSoon(ctx, func(tx *journal.Tx) error {
		if err := tx.MarkSent(o, o.Type == task.TypeResult); err != nil || o.Type != task.TypeDelegate {
			return err
		}
		k, found, err := tx.Task(o.Task)
		if err != nil || !found {
			return err
		}
		k.Sent = tx.Now()
		return tx.PutTask(&k)
	})
}

func (b *Outbox) failed(ctx context.Context, o journal.Outgoing, uncertain bool, err error) error {
	if ctx.Err() != nil {
		return nil // the program stops; the attempt stays counted as uncertain
	}
	if permanent(err) {
		o.Uncertain = uncertain
		return b.lose(ctx, o, errs.As(err).Reason)
	}
	next := b.Now().Add(delay(o.Attempts+1, err))
	return b.Journal.WriteSoon(ctx, func(tx *journal.Tx) error { return tx.Postpone(o, next, uncertain, err.Error()) })
}

func (b *Outbox) lose(ctx context.Context, o journal.Outgoing, why string) error {
	b.Log.Warn("outbox: a message cannot be delivered", "task", o.Task, "type", o.Type, "reason", why)
	return b.Journal.Write(ctx, func(tx *journal.Tx) error {
		if err := tx.Drop(o.ID); err != nil {
			return err
		}
		return b.Lost(tx, o, why)
	})
}

// HubBack brings forward what the hub's absence put off, spread over some
// seconds: everybody's hub is back in the same moment.
func (b *Outbox) HubBack(ctx context.Context) error {
	return b.Journal.WriteSoon(ctx, func(tx *journal.Tx) error {
		waiting, err := tx.Unsent()
		if err != nil {
			return err
		}
		for _, o := range waiting {
			if err := tx.Hasten(o.ID, tx.Now().Add(spread())); err != nil {
				return err
			}
		}
		return nil
	})
}
