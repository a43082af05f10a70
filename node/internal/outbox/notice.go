package outbox

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/envelope"
)

// noticeQueue bounds the notices that wait for their one attempt.
const noticeQueue = 32

// noticeTime bounds that attempt.
const noticeTime = 30 * time.Second

// Notify sends a message once, without keeping it: refusals are told once and
// never again (L.3). When too many wait, this one stays unsaid.
func (b *Outbox) Notify(d Draft) {
	mid := envelope.NewMID()
	o := journal.Outgoing{
		Task: d.Task, Peer: d.Peer, MID: mid[:], Type: d.Type, Body: d.Body, Exp: b.Now().Add(envelope.Lifetime),
	}
	if err := b.Sealer.Seal(&o, d.To, b.Now()); err != nil {
		b.Log.Debug("outbox: a notice cannot be sealed", "error", err)
		return
	}
	select {
	case b.queue() <- o:
	default:
	}
}

func (b *Outbox) queue() chan journal.Outgoing {
	b.once.Do(func() { b.notices = make(chan journal.Outgoing, noticeQueue) })
	return b.notices
}

func (b *Outbox) runNotices(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-b.queue():
			b.sendOnce(ctx, o)
		}
	}
}

func (b *Outbox) sendOnce(ctx context.Context, o journal.Outgoing) {
	ctx, cancel := context.WithTimeout(ctx, noticeTime)
	defer cancel()
	if _, _, err := b.Hub.Send(ctx, o.Peer, o.Sealed); err != nil {
		b.Log.Debug("outbox: a notice was not taken", "error", err)
	}
}
