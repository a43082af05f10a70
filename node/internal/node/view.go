package node

import (
	"context"
	"encoding/json"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/task"
)

// Task shows one task.
func (n *Node) Task(ctx context.Context, id string) (t Task, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		t, err = n.shown(tx, id)
		return err
	})
	return t, err
}

// shown is a task as the transaction sees it. Who has just changed one shows it
// in the same transaction: reads take turns, and the outbox is about to read.
func (n *Node) shown(tx *journal.Tx, id string) (Task, error) {
	k, err := tx.NeedTask(id)
	if err != nil {
		return Task{}, err
	}
	return n.view(tx, k)
}

func (n *Node) view(tx *journal.Tx, k journal.Task) (Task, error) {
	t := Task{
		ID: k.ID, Role: Role(k.Role), Peer: k.Peer, ContextID: k.ContextID,
		Capability: k.Capability, Args: k.Args, Text: k.Goal,
		State: string(k.State), Reason: k.Reason, Note: note(k), RetryAfterMS: k.RetryAfter.Milliseconds(),
		Deliverable: asJSON(k.Deliverable), ReceiptVerified: receiptVerified(k),
		RequestCID: k.RequestCID, ResultCID: k.ResultCID, Receipt: k.Receipt,
		CancelRequested: k.CancelRequested, LateResult: k.LateResult,
		Ended: k.State.Terminal(), Version: k.Version, Created: k.Created, Updated: k.Updated,
	}
	if k.Effect != "" {
		t.Effect = &k.Effect
	}
	if k.Reason != "" {
		t.Message = task.Reason(k.Reason).Sentence()
	}
	if err := addReview(tx, k, &t); err != nil {
		return t, err
	}
	if err := n.addPayment(tx, k, &t); err != nil {
		return t, err
	}
	return t, addDelivery(tx, k, &t)
}

// addReview says what this node said of the work. Only where there is a receipt
// can it have said something.
func addReview(tx *journal.Tx, k journal.Task, t *Task) error {
	if k.Role != journal.Requester || k.Receipt == nil {
		return nil
	}
	r, found, err := tx.Review(k.ID)
	if found {
		t.Review = &Review{Opinion: Opinion{r.Rating, r.Comment}, At: r.Created, Published: !r.Accepted.IsZero()}
	}
	return err
}

// note is what came with the state, where it says more than its reason does.
func note(k journal.Task) string {
	if k.Note == task.Reason(k.Reason).Sentence() {
		return ""
	}
	return k.Note
}

// receiptVerified is known once there is a receipt: one that did not hold was
// never stored.
func receiptVerified(k journal.Task) string {
	if k.Receipt != nil {
		return "verified"
	}
	return "unknown"
}

// asJSON shows a deliverable as it is when it is JSON, and as a string when a
// foreign provider sent something else.
func asJSON(b []byte) json.RawMessage {
	if b == nil || json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(string(b))
	if err != nil {
		return nil
	}
	return quoted
}

// addDelivery says how far this node's messages of the task came.
func addDelivery(tx *journal.Tx, k journal.Task, t *Task) error {
	out, err := tx.Outgoing(k.ID)
	if err != nil {
		return err
	}
	if k.Role == journal.Requester {
		t.Delivery, t.ViaHub = delivery(k, out), k.ViaHub
	}
	for _, o := range out {
		if o.Sent.IsZero() {
			t.Attempts, t.LastError = o.Attempts, o.Error
			break // the first that waits holds the others up
		}
	}
	return nil
}

func delivery(k journal.Task, out []journal.Outgoing) string {
	switch {
	case !k.Heard.IsZero():
		return "answered"
	case !k.Sent.IsZero():
		return "sent"
	case len(out) > 0:
		return "queued"
	}
	return ""
}

// Wait waits for the task to change.
func (n *Node) Wait(ctx context.Context, id string, seen int64) (Task, error) {
	for {
		changed := n.Journal.Changed()
		t, err := n.Task(context.WithoutCancel(ctx), id)
		if err != nil || t.Version > seen {
			return t, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t, nil
		}
	}
}
