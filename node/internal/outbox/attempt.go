package outbox

import (
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

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
	via, arrived, err := b.Hub.Send(ctx, o.Peer, o.Sealed)
	if err != nil {
		return b.failed(ctx, o, o.Uncertain || arrived, err)
	}
	return b.sent(ctx, o, via)
}

// ready seals what has to be sealed and counts the attempt, both on disk before
// anything is sent. False when the message was withdrawn meanwhile.
func (b *Outbox) ready(ctx context.Context, o *journal.Outgoing) (ready bool, err error) {
	anew, err := b.seal(ctx, o)
	if err != nil {
		return false, err
	}
	write := b.Journal.WriteSoon
	if anew {
		write = b.Journal.Write // a second sealing after a crash would be other bytes
	}
	err = write(ctx, func(tx *journal.Tx) error {
		if anew {
			if err := tx.Seal(o.ID, o.Sealed, o.KSN); err != nil {
				return err
			}
		}
		ready, err = tx.Attempting(o.ID)
		return err
	})
	return ready, err
}

// seal seals a draft, and once more what an older key of this node signed. The
// message keeps its id and its date, so whoever has it already takes the second
// for a copy. Without a draft, which an older program did not keep, the bytes
// stay as they are.
func (b *Outbox) seal(ctx context.Context, o *journal.Outgoing) (anew bool, err error) {
	if o.Sealed != nil && !b.Sealer.stale(*o) {
		return false, nil
	}
	to, belongs, err := b.recipient(ctx, o)
	if err != nil || o.Sealed != nil && o.Body == nil {
		return false, err
	}
	if b.Sealer.Seal(o, to, b.Now()) == nil {
		return true, nil
	}
	if to, err = b.Finder.Find(ctx, o.Peer, belongs); err != nil {
		return false, err
	}
	return true, b.Sealer.Seal(o, to, b.Now())
}

// recipient reads the draft and what the task knows of whom it is for. Whether
// the recipient belongs on record depends on whose task it is.
func (b *Outbox) recipient(ctx context.Context, o *journal.Outgoing) (to known.Identity, belongs bool, err error) {
	err = b.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, found, err := tx.Task(o.Task)
		if err != nil {
			return err
		}
		if found && k.Role == journal.Provider {
			to = known.Identity{KEL: k.PeerKEL, Keys: k.PeerKeys}
		}
		belongs = found && k.Role == journal.Requester
		o.Body, err = tx.Draft(o.ID)
		return err
	})
	return to, belongs, err
}

// sent records a delivery to the hub. A result is kept for whoever asks again.
func (b *Outbox) sent(ctx context.Context, o journal.Outgoing, via string) error {
	return b.Journal.WriteSoon(ctx, func(tx *journal.Tx) error {
		if err := tx.MarkSent(o, o.Type == task.TypeResult); err != nil || o.Type != task.TypeDelegate {
			return err
		}
		k, found, err := tx.Task(o.Task)
		if err != nil || !found {
			return err
		}
		k.Sent, k.ViaHub = tx.Now(), via
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
