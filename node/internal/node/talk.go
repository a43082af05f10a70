package node

import (
	"context"
	"encoding/json"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Message says something within a text task.
func (n *Node) Message(ctx context.Context, id, text string, files []File) (Task, error) {
	if text == "" && len(files) == 0 {
		return Task{}, invalid("no_message", "text", "say something, or attach a file")
	}
	list, err := attachments(files)
	if err != nil {
		return Task{}, err
	}
	return n.within(ctx, id, func(tx *journal.Tx, k *journal.Task) error {
		if err := textOnly(k); err != nil {
			return err
		}
		if err := n.say(tx, k, task.KindText, text, list, nil); err != nil {
			return err
		}
		if k.Role == journal.Provider {
			k.To(task.InputRequired, tx.Now())
		} else if k.State == task.InputRequired {
			k.To(task.Working, tx.Now())
		}
		return tx.PutTask(k)
	})
}

// within changes a task that has not ended.
func (n *Node) within(ctx context.Context, id string, f func(*journal.Tx, *journal.Task) error) (Task, error) {
	err := n.Journal.Write(ctx, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil {
			return err
		}
		if k.State.Terminal() {
			return errs.New(errs.Conflict, "task_ended", "the task %s has ended: it is %s", id, k.State)
		}
		return f(tx, &k)
	})
	if err != nil {
		return Task{}, err
	}
	return n.Task(ctx, id)
}

// textOnly keeps words out of calls: no provider would read them.
func textOnly(k *journal.Task) error {
	if k.Capability == "" {
		return nil
	}
	return errs.New(errs.Conflict, "task_is_a_call", "the task %s is a call of %s, and nobody reads messages in it", k.ID, k.Capability)
}

// say records a turn of this node and puts it on its way.
func (n *Node) say(tx *journal.Tx, k *journal.Task, kind, text string, files []task.Attachment, meta map[string]any) error {
	mid := envelope.NewMID()
	msg := task.ChatMsg{Kind: kind, Body: text, Attachments: files, MsgID: mid.String()}
	if len(meta) > 0 {
		m, err := json.Marshal(meta)
		if err != nil {
			return err
		}
		msg.Metadata = m
	}
	turn := journal.Message{Task: k.ID, ID: msg.MsgID, From: k.Role, Kind: kind, Body: text, Metadata: msg.Metadata}
	if _, err := tx.AddMessage(&turn); err != nil {
		return err
	}
	if err := tx.AddFiles(k.ID, turn.Seq, files); err != nil {
		return err
	}
	return n.post(tx, k, msg, mid)
}

func (n *Node) post(tx *journal.Tx, k *journal.Task, msg task.ChatMsg, mid envelope.MID) error {
	body, err := task.Encode(msg)
	if err != nil {
		return err
	}
	to := known.Identity{KEL: k.PeerKEL, Keys: k.PeerKeys}
	if k.Role == journal.Requester {
		if to, err = recentIdentity(tx, k.Peer); err != nil {
			return err
		}
	}
	_, err = n.Outbox.PostAs(tx, outbox.Draft{Task: k.ID, Peer: k.Peer, Type: task.TypeMessage, Body: body, To: to}, mid)
	return err
}

// lastWords marks a provider's message as conversation that asks for no answer,
// the result being about to follow (L.5).
var lastWords = map[string]any{task.KeyState: task.Working, task.KeyFinal: true}

// End completes a text task, or asks its provider to.
func (n *Node) End(ctx context.Context, id, text string, files []File) (Task, error) {
	list, err := attachments(files)
	if err != nil {
		return Task{}, err
	}
	return n.within(ctx, id, func(tx *journal.Tx, k *journal.Task) error {
		if err := textOnly(k); err != nil {
			return err
		}
		if k.Role == journal.Provider {
			return n.complete(tx, k, text, list)
		}
		return n.askForEnd(tx, k, text, list)
	})
}

func (n *Node) complete(tx *journal.Tx, k *journal.Task, text string, files []task.Attachment) error {
	if text != "" || len(files) > 0 {
		if err := n.say(tx, k, task.KindText, text, files, lastWords); err != nil {
			return err
		}
	}
	return n.Dispatch.CompleteText(tx, k)
}

func (n *Node) askForEnd(tx *journal.Tx, k *journal.Task, text string, files []task.Attachment) error {
	if text != "" || len(files) > 0 {
		if err := n.say(tx, k, task.KindText, text, files, nil); err != nil {
			return err
		}
	}
	if err := n.say(tx, k, task.KindEndRequest, "", nil, nil); err != nil {
		return err
	}
	return tx.PutTask(k)
}

// Cancel withdraws a task. At the requester a delegation of which no attempt was
// made is simply taken back; otherwise the provider is asked. At the provider
// the work is stopped and the requester told.
func (n *Node) Cancel(ctx context.Context, id string) (Task, error) {
	t, err := n.within(ctx, id, n.cancel)
	if err == nil && t.Role == Provider {
		n.Dispatch.Cancel(id)
	}
	return t, err
}

func (n *Node) cancel(tx *journal.Tx, k *journal.Task) error {
	if k.Role == journal.Provider {
		return n.cancelWork(tx, k)
	}
	untouched, err := untouched(tx, k.ID)
	if err != nil {
		return err
	}
	if untouched {
		return withdraw(tx, k)
	}
	awaits, err := n.Wallet.Awaits(tx, k)
	if err != nil {
		return err
	}
	if awaits { // the provider waits for a word about its price, and for no other
		return n.Wallet.Decline(tx, k)
	}
	k.CancelRequested = true
	if err := n.say(tx, k, task.KindCancel, "", nil, nil); err != nil {
		return err
	}
	return tx.PutTask(k)
}

// cancelWork ends a provider's task. What a running call did is recorded by the
// call itself, once it has stopped. What was paid for is owed.
func (n *Node) cancelWork(tx *journal.Tx, k *journal.Task) error {
	held, err := till.Holds(tx, k.ID)
	switch {
	case err != nil:
		return err
	case held:
		return errs.New(errs.Conflict, "task_paid", "the task %s is paid or being paid: its work cannot be cancelled", k.ID)
	}
	if k.Started {
		k.CancelRequested = true
		return tx.PutTask(k)
	}
	return n.Dispatch.Canceled(tx, k, "")
}

// untouched reports whether the delegation waits and no attempt was begun.
func untouched(tx *journal.Tx, id string) (bool, error) {
	out, err := tx.Outgoing(id)
	if err != nil {
		return false, err
	}
	for _, o := range out {
		if o.Type == task.TypeDelegate && o.Sent.IsZero() {
			return o.Attempts == 0, nil
		}
	}
	return false, nil
}

func withdraw(tx *journal.Tx, k *journal.Task) error {
	if err := tx.Withdraw(k.ID); err != nil {
		return err
	}
	k.CancelRequested = true
	if k.Capability != "" {
		k.Effect = string(effect.Unavailable)
	}
	k.To(task.Canceled, tx.Now())
	return tx.PutTask(k)
}
