package inbound

import (
	"cmp"
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// status takes news of a task this node started, from its provider only.
func (h *Handler) status(ctx context.Context, m mailbox.Mail) error {
	msg, err := task.Parse[task.StatusMsg](m.Body)
	if err != nil {
		return err
	}
	if err := msg.Check(); err != nil {
		return err
	}
	meta, err := task.ParseMetadata(msg.Metadata)
	if err != nil {
		return err
	}
	h.Purse.Prepare(ctx, m.Ix, meta)
	return h.answered(ctx, m, func(tx *journal.Tx, k *journal.Task) error {
		next, moved := k.State.Next(msg.State)
		if moved || !k.State.Terminal() && meta.Reason() != "" {
			k.Reason, k.Note, k.RetryAfter = string(meta.Reason()), msg.Text, meta.RetryAfter()
			if k.Capability != "" {
				k.Effect = string(effectOf(next, meta))
			}
			k.To(next, tx.Now())
		}
		return h.hear(tx, k, meta)
	})
}

// hear records the task, and what is said of its payment.
func (h *Handler) hear(tx *journal.Tx, k *journal.Task, meta task.Metadata) error {
	if k.Capability == "" || !meta.Pays() {
		return tx.PutTask(k)
	}
	if err := h.Purse.Hear(tx, k, meta); err != nil {
		return err
	}
	return tx.PutTask(k)
}

// effectOf is what a call without a result did, nothing yet while it goes on: a
// quote says what it waits for. Only a refusal says that nothing was attempted,
// and not where the provider has lost the task: then it may have run.
func effectOf(s task.State, meta task.Metadata) effect.Status {
	switch said := payment.Status(meta.Text(task.KeyPaymentStatus)); {
	case s != task.InputRequired:
	case said == payment.StatusRequired, said == payment.StatusFailed:
		return effect.PaymentRequired
	}
	if !s.Terminal() {
		return ""
	}
	if word := meta.Text(task.KeyEffectStatus); word != "" && s != task.Rejected {
		return effect.Read(word)
	}
	if s == task.Rejected && meta.A2AError() != task.TaskNotFoundError {
		return effect.Unavailable
	}
	return effect.Unverified
}

// answered finds the task that a provider's message is about and records that
// something came. An answer to a task this node did not start, or from somebody
// else, is dropped at once.
func (h *Handler) answered(ctx context.Context, m mailbox.Mail, f func(*journal.Tx, *journal.Task) error) error {
	denied := h.standing(m.From).Denied
	return h.commit(ctx, h.Journal.WriteSoon, m, func(tx *journal.Tx) error {
		k, found, err := tx.Task(m.Ix)
		switch {
		case err != nil:
			return err
		case !found:
			return drop(UnknownTask)
		case k.Role != journal.Requester:
			return drop(string(DropKind))
		case k.Peer != m.From:
			return drop(string(DropPeer))
		}
		if denied { // what was paid for is taken all the same (L.5)
			if paying, err := h.Purse.Paying(tx, k.ID); err != nil || !paying {
				return cmp.Or(err, drop(string(DropDenied)))
			}
		}
		k.Heard = tx.Now()
		if err := h.Book.Keep(tx, m.From, m.Sender, true); err != nil {
			return err
		}
		return f(tx, &k)
	})
}

// result takes the end of a task this node started. Nothing of it is stored or
// shown before its receipt held in every binding (F.5).
func (h *Handler) result(ctx context.Context, m mailbox.Mail) error {
	msg, err := task.Parse[task.ResultResp](m.Body)
	if err != nil {
		return err
	}
	meta, err := task.ParseMetadata(msg.Metadata)
	if err != nil {
		return err
	}
	h.Purse.Prepare(ctx, m.Ix, meta)
	return h.answered(ctx, m, func(tx *journal.Tx, k *journal.Task) error {
		sent := task.Ordered{Requester: h.AID, Provider: k.Peer, Ix: k.ID, RequestCID: k.RequestCID}
		if _, err := msg.CheckReceipt(sent, sender(m)); err != nil {
			h.Log.Warn("inbound: a result was refused", "task", k.ID, "error", err)
			return drop(task.ResultRefused)
		}
		return h.takeResult(tx, k, msg, meta)
	})
}

// takeResult takes the first result that ends the task. One before it may have
// asked for more.
func (h *Handler) takeResult(tx *journal.Tx, k *journal.Task, msg task.ResultResp, meta task.Metadata) error {
	if k.Receipt != nil && k.State.Terminal() {
		return h.hear(tx, k, meta) // the first receipt stands
	}
	k.Deliverable, k.Receipt, k.ResultCID = msg.Deliverable, msg.Receipt, codec.CID(msg.Deliverable)
	if err := tx.AddEvidence(journal.Evidence{
		Task: k.ID, Role: k.Role, Peer: k.Peer, Capability: k.Capability,
		RequestCID: k.RequestCID, ResultCID: k.ResultCID, Receipt: k.Receipt,
	}); err != nil {
		return err
	}
	if k.State.Terminal() {
		k.LateResult = true
		return h.hear(tx, k, meta)
	}
	k.Reason, k.RetryAfter = string(meta.Reason()), meta.RetryAfter()
	if k.Capability != "" {
		k.Effect, k.Note = readEffect(msg, meta)
	}
	next, _ := k.State.Next(msg.Asked(meta))
	k.To(next, tx.Now())
	return h.hear(tx, k, meta)
}

// readEffect takes the status from the deliverable, which the receipt covers,
// where there is one; the metadata beside it is not receipted.
func readEffect(msg task.ResultResp, meta task.Metadata) (status, note string) {
	if d, err := effect.Parse(msg.Deliverable); err == nil {
		return string(d.Status), d.Message
	}
	return string(effect.Read(meta.Text(task.KeyEffectStatus))), ""
}
