package node

import (
	"context"
	"encoding/json"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// maxFiles bounds what is attached to one message: the envelope around it must
// stay below what hubs take.
const maxFiles = 88 << 20

// StartTask signs a request and queues it, in one transaction with its record.
func (n *Node) StartTask(ctx context.Context, order Order) (t Task, err error) {
	k, req, err := n.request(order)
	if err != nil {
		return Task{}, err
	}
	body, err := task.Encode(req)
	if err != nil {
		return Task{}, err
	}
	err = n.Journal.Write(ctx, func(tx *journal.Tx) error {
		if err := tx.PutTask(&k); err != nil {
			return err
		}
		if err := tx.AddFiles(k.ID, 0, req.Attachments); err != nil {
			return err
		}
		if err := agree(tx, k.ID, order.Pay); err != nil {
			return err
		}
		to, err := recentIdentity(tx, k.Peer)
		if err != nil {
			return err
		}
		if err := n.Outbox.Post(tx, outbox.Draft{Task: k.ID, Peer: k.Peer, Type: task.TypeDelegate, Body: body, To: to}); err != nil {
			return err
		}
		t, err = n.shown(tx, k.ID)
		return err
	})
	if err != nil {
		return Task{}, err // what was not committed is not there
	}
	return t, nil
}

// recentIdentity is the stored identity of a provider while it is fresh enough
// to be sealed to without asking the hub (E.9).
func recentIdentity(tx *journal.Tx, aid string) (known.Identity, error) {
	p, found, err := tx.Peer(aid)
	if err != nil || !found || tx.Now().Sub(p.Checked) >= known.Recheck {
		return known.Identity{}, err
	}
	return known.Identity{KEL: p.KEL, Keys: p.Keys}, nil
}

// request makes the record of a task and the request for it.
func (n *Node) request(order Order) (journal.Task, task.DelegateReq, error) {
	doc, err := n.document(order)
	if err != nil {
		return journal.Task{}, task.DelegateReq{}, err
	}
	files, err := attachments(order.Files)
	if err != nil {
		return journal.Task{}, task.DelegateReq{}, err
	}
	req, err := task.NewDelegate(n.Keys.Signer(), task.NewID(), doc)
	if err != nil {
		return journal.Task{}, task.DelegateReq{}, err
	}
	req.Attachments, req.ContextID = files, order.ContextID
	k := journal.Task{
		ID: req.InteractionID, Peer: order.Provider, Role: journal.Requester, ContextID: order.ContextID,
		Doc: req.TaskDoc, RequestCID: req.RequestCID(), State: task.Submitted, Goal: order.Text,
	}
	if call, ok := doc.Call(); ok {
		k.Capability, k.Args = call.Capability, call.Args
	}
	return k, req, nil
}

// document says what is asked for, and refuses what makes no sense before
// anything is written.
func (n *Node) document(order Order) (task.TaskDoc, error) {
	switch {
	case !identity.ValidAID(order.Provider):
		return task.TaskDoc{}, invalid("provider_invalid", "provider", "%.80q is no full AID; find one with: anet find", order.Provider)
	case order.Provider == n.Keys.AID():
		return task.TaskDoc{}, invalid("provider_self", "provider", "a node cannot delegate to itself")
	case len(order.ContextID) > task.MaxIDBytes:
		return task.TaskDoc{}, invalid("context_invalid", "context_id", "a context id has at most %d bytes", task.MaxIDBytes)
	case order.Text != "" && order.Capability != "":
		return task.TaskDoc{}, invalid("two_requests", "text", "ask in words or call a capability, not both")
	case order.Text == "" && order.Capability == "":
		return task.TaskDoc{}, invalid("no_request", "text", "say what is wanted, in words or as a capability")
	case order.Capability == "" && order.Pay != nil:
		return task.TaskDoc{}, invalid("pay_without_capability", "pay", "only calls of capabilities have a price")
	case order.Capability == "" && len(order.Args) > 0:
		return task.TaskDoc{}, invalid("args_without_capability", "args", "arguments belong to a capability")
	case n.denied(order.Provider):
		return task.TaskDoc{}, errs.New(errs.Conflict, "provider_denied",
			"this node denies %s, so its answer would be dropped; run first: anet peers remove %[1]s", order.Provider)
	case len(order.Text) > task.MaxDoc-1<<10:
		return task.TaskDoc{}, invalid("text_too_large", "text", "a text of %d bytes is not read at the other end; send it as a file", len(order.Text))
	case order.Capability == "":
		return task.NewText(order.Text), nil
	}
	return callDocument(order.Capability, order.Args)
}

func callDocument(capID string, args json.RawMessage) (task.TaskDoc, error) {
	doc, err := task.NewCall(capID, args)
	if err != nil {
		return doc, invalid("args_invalid", "args", "the arguments must be one JSON object without repeated names").Because(err)
	}
	return doc, nil
}

func invalid(reason, field, format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, reason, format, args...).In(field)
}

// attachments describes files as they travel.
func attachments(files []File) ([]task.Attachment, error) {
	var out []task.Attachment
	total := 0
	for _, f := range files {
		a, err := task.NewAttachment(f.Name, f.Mime, f.Data)
		if err != nil {
			return nil, err
		}
		if total += len(f.Data); total > maxFiles {
			return nil, errs.New(errs.TooLarge, "files_too_large", "the files of one message have at most %d bytes together", maxFiles).In("files")
		}
		out = append(out, a)
	}
	return out, nil
}

func (n *Node) denied(aid string) bool {
	s, _ := n.Lists.Of(aid) // what cannot be read denies, beside its error
	return s.Denied
}
