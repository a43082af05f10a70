package inbound

import (
	"context"

	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/task"
)

// call admits a capability call within its limits, and has it run or quoted.
func (h *Handler) call(ctx context.Context, o order, trust journal.Trust, settled func(mailbox.Verdict)) {
	item, sold := h.Till.Sells(o.call.Capability)
	release, refusal := h.admit(o, trust, sold)
	if refusal != nil {
		h.settle(settled, h.refuse(ctx, o, *refusal))
		return
	}
	switch {
	case o.withdrawn:
		defer release()
		h.settle(settled, h.takeWithdrawn(ctx, o, trust))
	case sold:
		defer release()
		h.settle(settled, h.quote(ctx, o, trust, item))
	default:
		h.work(ctx, o, trust, release, settled)
	}
}

// admit holds a call to the limits of a public capability and, where it is sold,
// to carrying what a payment is bound to.
func (h *Handler) admit(o order, trust journal.Trust, sold bool) (release func(), refusal *Refusal) {
	var wrong *Refusal
	if sold && o.doc.Nonce() == "" {
		wrong = &Refusal{Reason: task.TaskNonceRequired}
	}
	if trust == journal.TrustPublicCap {
		return h.Admission.Admit(o.call.Capability, o.mail.From, o.weight(), h.Now(), wrong)
	}
	return func() {}, wrong
}

// quote answers a call with its price.
func (h *Handler) quote(ctx context.Context, o order, trust journal.Trust, item till.Item) error {
	k := h.newTask(o, trust)
	err := h.commit(ctx, h.Journal.Write, o.mail, func(tx *journal.Tx) error {
		if err := h.Till.Quote(tx, &k, item, o.req.Payment); err != nil {
			return err
		}
		return h.keep(tx, o, k)
	})
	if err == nil && len(o.req.Payment) > 0 {
		h.Till.Poke()
	}
	return err
}

// work has a call run that is free.
func (h *Handler) work(ctx context.Context, o order, trust journal.Trust, release func(), settled func(mailbox.Verdict)) {
	k, plan := h.newTask(o, trust), h.Dispatch.Plan(o.call.Capability)
	if !plan.Runs() {
		defer release()
		h.settle(settled, h.answerAtOnce(ctx, o, k, plan))
		return
	}
	h.run(ctx, o, k, plan, release, settled)
}

// beside is what a call may carry beside its arguments: its goal in words above
// all.
const beside = 16 << 10

// weight is the size a call is admitted by: that of its arguments (G.1). What
// comes beside them is kept on this node's disk just as they are, so where it is
// much it counts in their place.
func (o order) weight() int {
	carried := len(o.req.TaskDoc)
	for _, f := range o.req.Attachments {
		carried += len(f.Name) + len(f.Mime) + len(f.CID) + len(f.Data)
	}
	return max(len(o.call.Args), carried-beside)
}

func (h *Handler) answerAtOnce(ctx context.Context, o order, k journal.Task, plan dispatch.Plan) error {
	return h.commit(ctx, h.Journal.Write, o.mail, func(tx *journal.Tx) error {
		if err := h.keepSender(tx, o); err != nil {
			return err
		}
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
