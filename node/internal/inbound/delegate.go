package inbound

import (
	"context"
	"errors"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/task"
)

// order is a delegation that was read and found to be its sender's.
type order struct {
	mail     mailbox.Mail
	req      task.DelegateReq
	doc      task.TaskDoc
	call     task.Call
	isCall   bool
	meta     task.Metadata
	standing peers.Standing
	// withdrawn says that its requester has cancelled it already (L.5). It is
	// decided about all the same: a cancellation sent ahead opens nothing.
	withdrawn bool
}

func (h *Handler) delegate(ctx context.Context, m mailbox.Mail, settled func(mailbox.Verdict)) {
	o, err := h.read(m)
	if errors.Is(err, errUnread) {
		h.settle(settled, h.refuseUnread(ctx, o))
		return
	}
	if err != nil {
		h.settle(settled, err)
		return
	}
	held, withdrawn, err := h.held(ctx, o)
	switch {
	case err != nil:
		h.settle(settled, err)
	case held != nil:
		h.settle(settled, h.redelivered(ctx, o, *held))
	default:
		o.withdrawn = withdrawn
		h.decide(ctx, o, settled)
	}
}

// read binds the body to its message and checks every part of it, the
// attachments last: they are the largest.
func (h *Handler) read(m mailbox.Mail) (order, error) {
	o := order{mail: m}
	var err error
	if o.req, err = task.Parse[task.DelegateReq](m.Body); err != nil {
		return o, err
	}
	if len(o.req.TaskDoc) > task.MaxDoc {
		return o, errUnread
	}
	if o.doc, err = o.req.Verify(sender(m)); err != nil {
		return o, err
	}
	if o.meta, err = task.ParseMetadata(o.req.Metadata); err != nil {
		return o, err
	}
	if err := task.CheckAll(o.req.Attachments); err != nil {
		return o, err
	}
	o.call, o.isCall = o.doc.Call()
	o.standing = h.standing(m.From)
	return o, nil
}

// errUnread is for a request whose document is larger than anything that is
// taken: it is refused without being read.
var errUnread = errors.New("the document is too large to be read")

// refuseUnread gives a stranger the answer it would get whatever it asked for,
// and everybody else the true one.
func (h *Handler) refuseUnread(ctx context.Context, o order) error {
	if !task.ValidID(o.mail.Ix) {
		return drop(string(task.ArgsTooLarge))
	}
	s := h.standing(o.mail.From)
	d := Decide(Request{Denied: s.Denied, Listed: s.Listed(), Policy: h.Policy()})
	if d.Refuse == "" {
		d.Refuse = task.ArgsTooLarge
	}
	return h.refuse(ctx, o, Refusal{Reason: d.Refuse})
}

// takeWithdrawn records a call whose cancellation came first; it is not run.
func (h *Handler) takeWithdrawn(ctx context.Context, o order, trust journal.Trust) error {
	k := h.newTask(o, trust)
	return h.commit(ctx, h.Journal.Write, o.mail, func(tx *journal.Tx) error { return h.Dispatch.Canceled(tx, &k, "") })
}

// decide applies L.1 and what follows from it.
func (h *Handler) decide(ctx context.Context, o order, settled func(mailbox.Verdict)) {
	d := Decide(Request{
		Denied: o.standing.Denied, Listed: o.standing.Listed(), Policy: h.Policy(),
		Call: o.isCall, Public: o.isCall && h.Admission.Public(o.call.Capability),
	})
	switch {
	case d.Refuse != "":
		h.settle(settled, h.refuse(ctx, o, Refusal{Reason: d.Refuse}))
	case !o.meta.SpeaksA2A():
		h.settle(settled, h.refuseVersion(ctx, o))
	case o.isCall:
		h.call(ctx, o, d.Trust, settled)
	default:
		h.settle(settled, h.takeText(ctx, o, d.Trust))
	}
}

// refuse is final for this envelope: it is on disk before the requester hears
// of it, so neither a new policy nor a restart turns it into a yes.
func (h *Handler) refuse(ctx context.Context, o order, r Refusal) error {
	meta := map[string]any{task.KeyReason: r.Reason}
	if r.RetryAfter > 0 {
		meta[task.KeyRetryAfter] = r.RetryAfter.Milliseconds()
	}
	return h.refuseWith(ctx, o, meta, r.Reason.Sentence(), string(r.Reason))
}

func (h *Handler) refuseVersion(ctx context.Context, o order) error {
	meta := map[string]any{task.KeyA2AError: task.VersionNotSupportedError}
	return h.refuseWith(ctx, o, meta, "This node speaks A2A 1.x.", "version-not-supported")
}

func (h *Handler) refuseWith(ctx context.Context, o order, meta map[string]any, words, count string) error {
	err := h.Journal.Write(ctx, func(tx *journal.Tx) error {
		return tx.Refuse(journal.Refusal{From: o.mail.From, MID: o.mail.MID[:], TS: o.mail.Sent(), Exp: o.mail.Expires()})
	})
	if err != nil {
		return err
	}
	h.Dropped.Add(count)
	h.notify(o.mail, meta, words)
	return nil
}

func (h *Handler) newTask(o order, trust journal.Trust) journal.Task {
	k := journal.Task{
		ID: o.mail.Ix, Peer: o.mail.From, Role: journal.Provider, ContextID: o.req.ContextID,
		Doc: o.req.TaskDoc, RequestCID: o.req.RequestCID(), Trust: trust, State: task.Submitted,
		PeerKEL: o.mail.Sender.KEL, PeerKeys: o.mail.Sender.Keys,
	}
	if o.isCall {
		k.Capability, k.Args = o.call.Capability, o.call.Args
	} else {
		k.Goal = o.doc.Goal()
	}
	if trust == journal.TrustPublic {
		k.Weight = weightOf(o, k)
	}
	return k
}

// takeText puts a request in words into the inbox, a stranger's while there is
// room.
func (h *Handler) takeText(ctx context.Context, o order, trust journal.Trust) error {
	k := h.newTask(o, trust)
	write, record := h.Journal.WriteSoon, func(tx *journal.Tx) error {
		if err := tx.PutTask(&k); err != nil {
			return err
		}
		return h.keep(tx, o, k)
	}
	if o.withdrawn { // its cancellation came first: kept, and at its end
		write, record = h.Journal.Write, func(tx *journal.Tx) error { return h.Dispatch.Canceled(tx, &k, "") }
	}
	err := h.commit(ctx, write, o.mail, func(tx *journal.Tx) error {
		if trust == journal.TrustPublic {
			if err := h.room(tx, k.Peer, journal.Load{Tasks: 1, Bytes: k.Weight}); err != nil {
				return err
			}
		}
		return record(tx)
	})
	if full, ok := errors.AsType[noRoom](err); ok {
		return h.refuse(ctx, o, full.Refusal)
	}
	return err
}

// keep stores what comes with a task: its files, and its requester's identity
// where that belongs on record.
func (h *Handler) keep(tx *journal.Tx, o order, k journal.Task) error {
	if err := tx.AddFiles(k.ID, 0, o.req.Attachments); err != nil {
		return err
	}
	return h.keepSender(tx, o)
}

func (h *Handler) keepSender(tx *journal.Tx, o order) error {
	return h.Book.Keep(tx, o.mail.From, o.mail.Sender, o.standing.Listed())
}
