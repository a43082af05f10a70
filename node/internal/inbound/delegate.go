package inbound

import (
	"context"
	"strings"

	"github.com/anet-hub/anet/node/internal/dispatch"
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
}

func (h *Handler) delegate(ctx context.Context, m mailbox.Mail, settled func(mailbox.Verdict)) {
	o, err := h.read(m)
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
	case withdrawn:
		h.settle(settled, h.takeWithdrawn(ctx, o))
	default:
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

// takeWithdrawn records a task whose cancellation came first; it is not run.
func (h *Handler) takeWithdrawn(ctx context.Context, o order) error {
	k := h.newTask(o, "")
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
	case !speaksOurs(o.meta):
		h.settle(settled, h.refuseVersion(ctx, o))
	case o.isCall:
		h.call(ctx, o, d.Trust, settled)
	default:
		h.settle(settled, h.takeText(ctx, o, d.Trust))
	}
}

// speaksOurs reports whether an explicit A2A version is one of ours; no version
// means 1.0 (F.7).
func speaksOurs(meta task.Metadata) bool {
	for _, v := range meta.ServiceParameters()["a2a-version"] {
		if !strings.HasPrefix(v, "1.") {
			return false
		}
	}
	return true
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
	meta := map[string]any{task.KeyA2AError: "VersionNotSupportedError"}
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
	return k
}

// takeText puts a request in words into the inbox.
func (h *Handler) takeText(ctx context.Context, o order, trust journal.Trust) error {
	k := h.newTask(o, trust)
	return h.commit(ctx, h.Journal.WriteSoon, o.mail, func(tx *journal.Tx) error {
		if err := tx.PutTask(&k); err != nil {
			return err
		}
		return h.keep(tx, o, k)
	})
}

// keep stores what comes with a task: its files, and its requester's identity
// where that belongs on record.
func (h *Handler) keep(tx *journal.Tx, o order, k journal.Task) error {
	if err := tx.AddFiles(k.ID, 0, o.req.Attachments); err != nil {
		return err
	}
	return h.Book.Keep(tx, k.Peer, o.mail.Sender, o.standing.Listed())
}

// call admits a capability call within its limits and has it run.
func (h *Handler) call(ctx context.Context, o order, trust journal.Trust, settled func(mailbox.Verdict)) {
	release := func() {}
	if trust == journal.TrustPublicCap {
		admitted, refusal := h.Admission.Admit(o.call.Capability, o.mail.From, len(o.call.Args), h.Now())
		if refusal != nil {
			h.settle(settled, h.refuse(ctx, o, *refusal))
			return
		}
		release = admitted
	}
	k, plan := h.newTask(o, trust), h.Dispatch.Plan(o.call.Capability)
	if !plan.Runs() {
		defer release()
		h.settle(settled, h.answerAtOnce(ctx, o, k, plan))
		return
	}
	h.run(ctx, o, k, plan, release, settled)
}

func (h *Handler) answerAtOnce(ctx context.Context, o order, k journal.Task, plan dispatch.Plan) error {
	return h.commit(ctx, h.Journal.Write, o.mail, func(tx *journal.Tx) error {
		return h.Dispatch.Answer(tx, &k, plan.Outcome())
	})
}

// run marks the call as started and hands it on. A long call is acknowledged
// now and its mark on disk. A short one is acknowledged when its result is
// written; its mark holds against the end of this process, and only a machine
// that loses power may run the call again (G.4).
func (h *Handler) run(ctx context.Context, o order, k journal.Task, plan dispatch.Plan, release func(), settled func(mailbox.Verdict)) {
	write := h.Journal.WriteSoon
	if plan.Long() {
		write = h.Journal.Write
	}
	err := h.commit(ctx, write, o.mail, func(tx *journal.Tx) error {
		if err := h.Dispatch.Begin(tx, &k); err != nil {
			return err
		}
		return h.keep(tx, o, k)
	})
	if err != nil {
		plan.Drop()
		release()
		h.settle(settled, err)
		return
	}
	if plan.Long() {
		settled(mailbox.Done)
	}
	h.Dispatch.Run(k, o.req.Attachments, plan, func(recorded bool) {
		release()
		if !plan.Long() {
			settled(mailbox.Verdict(recorded))
		}
	})
}
