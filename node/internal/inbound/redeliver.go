package inbound

import (
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/task"
)

// held finds what the node holds under the id already. Anybody else's, another
// side's or another request's is a collision, and nobody is told (F.9).
func (h *Handler) held(ctx context.Context, o order) (held *journal.Task, withdrawn bool, err error) {
	err = h.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, found, err := tx.Task(o.mail.Ix)
		switch {
		case err != nil:
			return err
		case !found:
			withdrawn, err = tx.EarlyCancel(o.mail.Ix, o.mail.From)
			return err
		case k.Role != journal.Provider || k.Peer != o.mail.From || k.RequestCID != o.req.RequestCID():
			return drop(IxCollision)
		}
		held = &k
		return nil
	})
	return held, withdrawn, err
}

// redelivered handles the request of a task that is held: nothing is executed
// but what was recorded, and an answer that exists is sent again. The deny list
// is looked at again, and the allow list where it was why the task was taken.
func (h *Handler) redelivered(ctx context.Context, o order, k journal.Task) error {
	err := h.commit(ctx, h.Journal.WriteSoon, o.mail, func(*journal.Tx) error { return nil })
	if err != nil {
		return err
	}
	return h.resend(ctx, o.mail, k, o.standing)
}

func (h *Handler) resend(ctx context.Context, m mailbox.Mail, k journal.Task, s peers.Standing) error {
	if s.Denied || (k.Trust == journal.TrustPeer && !s.Listed()) {
		return drop(string(DropAllowed))
	}
	if !k.State.Terminal() {
		return nil
	}
	return h.Journal.WriteSoon(ctx, func(tx *journal.Tx) error {
		sent, err := tx.AnswerSent(k.ID, k.Peer)
		if err != nil || !sent || !h.resends.Allow(k.Peer, k.ID, h.Now()) {
			return err
		}
		return tx.Resend(k.ID, k.Peer)
	})
}

// Again handles a second copy of a message: only a delegation has anybody
// waiting for an answer that may be lost.
func (h *Handler) Again(ctx context.Context, m mailbox.Mail, settled func(mailbox.Verdict)) {
	if m.Type != task.TypeDelegate {
		settled(mailbox.Done)
		return
	}
	var k journal.Task
	var found bool
	err := h.Journal.Read(ctx, func(tx *journal.Tx) (err error) { k, found, err = tx.Task(m.Ix); return err })
	if err == nil && found && k.Peer == m.From && k.Role == journal.Provider {
		err = h.resend(ctx, m, k, h.standing(m.From))
	}
	h.settle(settled, err)
}
