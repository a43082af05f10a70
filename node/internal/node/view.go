package node

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Task shows one task.
func (n *Node) Task(ctx context.Context, id string) (t Task, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil {
			return err
		}
		t, err = view(tx, k)
		return err
	})
	return t, err
}

func view(tx *journal.Tx, k journal.Task) (Task, error) {
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
	return t, addDelivery(tx, k, &t)
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
		t.Delivery = delivery(k, out)
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

// The page sizes of List.
const (
	defaultPage = 50
	maxPage     = 500
)

// List pages through tasks, the latest change first.
func (n *Node) List(ctx context.Context, q Query) (Page, error) {
	f, err := filter(q)
	if err != nil {
		return Page{}, err
	}
	page := Page{Tasks: []Task{}, Limit: f.Limit}
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		tasks, err := tx.Tasks(f)
		for _, k := range tasks {
			t, err := view(tx, k)
			if err != nil {
				return err
			}
			page.Tasks = append(page.Tasks, t)
		}
		if len(tasks) == f.Limit {
			page.NextCursor = strconv.FormatInt(tasks[len(tasks)-1].Version, 10)
		}
		return err
	})
	return page, err
}

func filter(q Query) (journal.Filter, error) {
	f := journal.Filter{
		Role: journal.Role(q.Role), State: task.State(q.State), Peer: q.Peer,
		ContextID: q.ContextID, Ended: q.Ended, Text: q.Text, Limit: q.Limit,
	}
	if f.Limit == 0 {
		f.Limit = defaultPage
	}
	if f.Limit < 1 {
		return f, invalid("limit_invalid", "limit", "a limit is a whole number from 1 to %d", maxPage)
	}
	f.Limit = min(f.Limit, maxPage)
	if q.Cursor == "" {
		return f, nil
	}
	before, err := strconv.ParseInt(q.Cursor, 10, 64)
	if err != nil || before < 1 {
		return f, invalid("cursor_invalid", "cursor", "%.40q is no cursor of this list; begin again without one", q.Cursor)
	}
	f.Before = before
	return f, nil
}

// Thread shows a task with everything said in it.
func (n *Node) Thread(ctx context.Context, id string) (t Thread, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil {
			return err
		}
		if t.Task, err = view(tx, k); err != nil {
			return err
		}
		t.Files, t.Messages, err = conversation(tx, k)
		return err
	})
	return t, err
}

func conversation(tx *journal.Tx, k journal.Task) (ofRequest []File, turns []Message, err error) {
	said, err := tx.Messages(k.ID)
	if err != nil {
		return nil, nil, err
	}
	files, err := tx.Files(k.ID)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := unsent(tx, k.ID)
	turns = make([]Message, 0, len(said))
	for _, m := range said {
		turn := Message{ID: m.ID, From: Role(m.From), Kind: m.Kind, Text: m.Body, Files: described(files[m.Seq]), At: m.At}
		if m.From == k.Role {
			sent := !waiting[m.ID]
			turn.Sent = &sent
		}
		turns = append(turns, turn)
	}
	return described(files[0]), turns, err
}

// unsent are the ids of this node's messages that the hub has not taken.
func unsent(tx *journal.Tx, id string) (map[string]bool, error) {
	out, err := tx.Outgoing(id)
	waiting := map[string]bool{}
	for _, o := range out {
		if o.Sent.IsZero() {
			waiting[hexMID(o.MID)] = true
		}
	}
	return waiting, err
}

func described(files []task.Attachment) []File {
	var out []File
	for _, f := range files {
		out = append(out, File{Name: f.Name, Mime: f.Mime, Size: f.Size, CID: f.CID})
	}
	return out
}

// File gives the content of an attachment.
func (n *Node) File(ctx context.Context, id, cid string) (f File, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		a, found, err := tx.File(id, cid)
		if err == nil && !found {
			err = errs.New(errs.NotFound, "file_unknown", "the task %s has no file %s", id, cid)
		}
		f = File{Name: a.Name, Mime: a.Mime, Size: a.Size, CID: a.CID, Data: a.Data}
		return err
	})
	return f, err
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
