package inbound

import (
	"context"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Lists says how a peer stands. What it gives may be acted on beside an error.
type Lists interface {
	Of(aid string) (peers.Standing, error)
}

// Notifier sends a message once, without keeping it.
type Notifier interface {
	Notify(d outbox.Draft)
}

// Purse pays for what this node asked for.
type Purse interface {
	// Prepare learns what Hear will need, and has to be asked for, before the transaction.
	Prepare(ctx context.Context, id string, meta task.Metadata)
	// Hear takes what a provider says of the payment for a task: its price, which
	// may be paid in this transaction, and what became of a payment.
	Hear(tx *journal.Tx, k *journal.Task, meta task.Metadata) error
	// Paying reports whether something was signed for the task that may have moved.
	Paying(tx *journal.Tx, id string) (bool, error)
}

// Parts is what the handler works with.
type Parts struct {
	AID       string
	Journal   *journal.Journal
	Book      *known.Book
	Lists     Lists
	Policy    func() config.Policy // of the moment
	Admission *Admission
	Strangers config.Strangers
	Dispatch  *dispatch.Dispatch
	Till      *till.Till
	Purse     Purse
	Cards     Cards
	Notifier  Notifier
	Dropped   *mailbox.Counts
	Log       *slog.Logger
	Now       func() time.Time
}

// Handler takes authenticated mail: steps 9 and 10 of wire 2, E.10.
type Handler struct {
	Parts
	notices *Pace
	resends *Resends
	askers  *Pace
	waiting *waiting
	trouble mailbox.Trouble
}

// New makes a handler.
func New(p Parts) *Handler {
	return &Handler{Parts: p, notices: NewNotices(), resends: NewResends(), askers: newAskers(), waiting: newWaiting()}
}

// Why a message is dropped, beside the actions and the reasons of the envelope.
const (
	UnknownType = "unknown-type"
	IxCollision = "ix-collision"
	UnknownTask = "unknown-task"
)

// drop is a failure of class P: the message is counted under the reason and
// acknowledged.
func drop(reason string) error { return errs.New(errs.Invalid, reason, "dropped: %s", reason) }

// Take decides about a message seen for the first time.
func (h *Handler) Take(ctx context.Context, m mailbox.Mail, settled func(mailbox.Verdict)) {
	switch m.Type {
	case task.TypeDelegate:
		h.delegate(ctx, m, settled)
	case task.TypeMessage:
		h.settle(settled, h.turn(ctx, m))
	case task.TypeStatus:
		h.settle(settled, h.status(ctx, m))
	case task.TypeResult:
		h.settle(settled, h.result(ctx, m))
	case task.TypeCardRequest:
		h.settle(settled, h.cardRequest(m))
	case task.TypeCard:
		h.settle(settled, h.cardAnswer(m))
	default:
		h.settle(settled, drop(UnknownType))
	}
}

// sender is what the message around a body proved about it.
func sender(m mailbox.Mail) task.Sender {
	return task.Sender{AID: m.From, Ix: m.Ix, TS: m.TS, History: m.History}
}

// errWait is class T without anything being wrong.
var errWait = errs.New(errs.Unavailable, "wait", "the message is about a task that may be about to come")

// settle turns what handling gave into a verdict: an answer of a rule is final,
// anything else, a store that fails above all, is tried again.
func (h *Handler) settle(settled func(mailbox.Verdict), err error) {
	switch {
	case err == nil:
		settled(mailbox.Done)
	case err == errWait:
		settled(mailbox.Wait)
	case errs.KindOf(err) == errs.Invalid || errs.KindOf(err) == errs.TooLarge:
		h.Dropped.Add(errs.As(err).Reason)
		settled(mailbox.Done)
	default:
		h.trouble.Tell(h.Log, h.Now(), "inbound: a message cannot be handled now", err)
		settled(mailbox.Wait)
	}
}

// standing reads the lists. A list that cannot be read has closed already; its
// error is for the operator.
func (h *Handler) standing(aid string) peers.Standing {
	s, err := h.Lists.Of(aid)
	if err != nil {
		h.Log.Error("inbound: a list of peers cannot be read", "error", err)
	}
	return s
}

// commit runs the business write with its replay row (checklist 25). A message
// whose row is there already is dropped: whoever acts on a commit that succeeded
// acts once. What others are told of must be on
// disk first (Write); what only this node sees can wait for the sync before the
// acknowledgement (WriteSoon).
func (h *Handler) commit(ctx context.Context, write writer, m mailbox.Mail, f func(*journal.Tx) error) error {
	return write(ctx, func(tx *journal.Tx) error {
		first, err := tx.Remember(m.From, m.MID[:], m.Expires())
		switch {
		case err != nil:
			return err
		case !first:
			return drop(mailbox.Duplicate)
		}
		return f(tx)
	})
}

// writer is Journal.Write or Journal.WriteSoon.
type writer func(context.Context, func(*journal.Tx) error) error

// notify tells the sender why its message came to nothing, within the limits.
func (h *Handler) notify(m mailbox.Mail, meta map[string]any, words string) {
	h.notifyState(m, task.Rejected, meta, words)
}

func (h *Handler) notifyState(m mailbox.Mail, s task.State, meta map[string]any, words string) {
	if !h.notices.Allow(m.From, h.Now()) {
		return
	}
	body, err := dispatch.StatusBody(s, words, meta, h.Now().UnixMilli())
	if err != nil {
		h.Log.Error("inbound: a notice cannot be written", "error", err)
		return
	}
	h.Notifier.Notify(outbox.Draft{Task: m.Ix, Peer: m.From, Type: task.TypeStatus, Body: body, To: m.Sender})
}
