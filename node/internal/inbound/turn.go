package inbound

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// turn handles a message within a task (L.5).
func (h *Handler) turn(ctx context.Context, m mailbox.Mail) error {
	msg, err := task.Parse[task.ChatMsg](m.Body)
	if err != nil {
		return err
	}
	meta, err := task.ParseMetadata(msg.Metadata)
	if err != nil {
		return err
	}
	if err := task.CheckAll(msg.Attachments); err != nil {
		return err
	}
	k, facts, err := h.turnFacts(ctx, m, msg, meta)
	if err != nil {
		return err
	}
	action := DecideTurn(facts)
	if action != WaitForTask {
		h.waiting.remove(m.From, m.MID)
	}
	switch action {
	case Take:
		return h.takeTurn(ctx, said{m, msg, meta, facts.Listed || facts.Role == journal.Requester}, k.ID)
	case TakeCancel:
		return h.cancelAhead(ctx, m, facts.Listed)
	case WaitForTask:
		h.waiting.add(m.From, m.MID, h.Now())
		return errWait
	case NotFound:
		h.notify(m, map[string]any{task.KeyA2AError: task.TaskNotFoundError}, "This node knows no such task.")
	}
	return drop(string(action))
}

func (h *Handler) turnFacts(ctx context.Context, m mailbox.Mail, msg task.ChatMsg, meta task.Metadata) (k journal.Task, t Turn, err error) {
	s := h.standing(m.From)
	t = Turn{
		Kind: msg.Kind, Payment: payment.Status(meta.Text(task.KeyPaymentStatus)), Denied: s.Denied, Listed: s.Listed(),
		Age: h.Now().Sub(m.Sent()), Waiting: h.waiting.others(m.From, m.MID, h.Now()),
	}
	err = h.Journal.Read(ctx, func(tx *journal.Tx) error {
		if k, t.Known, err = tx.Task(m.Ix); err != nil || t.Known {
			return err
		}
		t.Related, err = related(tx, m.From)
		t.Related = t.Related || s.Listed()
		return err
	})
	t.SamePeer, t.Role, t.Trust, t.Ended = k.Peer == m.From, k.Role, k.Trust, k.State.Terminal()
	return k, t, err
}

// related reports whether the node has had to do with the peer on purpose: its
// identity is stored, or a task was sent to it.
func related(tx *journal.Tx, aid string) (bool, error) {
	_, stored, err := tx.Peer(aid)
	if err != nil || stored {
		return stored, err
	}
	sent, err := tx.Tasks(journal.Filter{Role: journal.Requester, Peer: aid, Limit: 1})
	return len(sent) > 0, err
}

// said is a message within a task that is taken.
type said struct {
	mail    mailbox.Mail
	msg     task.ChatMsg
	meta    task.Metadata
	belongs bool // its sender's identity belongs on record
}

func (s said) pays(what payment.Status) bool {
	return s.msg.Kind == task.KindText && payment.Status(s.meta.Text(task.KeyPaymentStatus)) == what
}

// takeTurn records the message and does what it asks.
func (h *Handler) takeTurn(ctx context.Context, s said, id string) error {
	running := false
	err := h.commit(ctx, h.Journal.Write, s.mail, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil || k.State.Terminal() {
			return err
		}
		if err := h.learn(tx, s, &k); err != nil {
			return err
		}
		if k.Role == journal.Provider && k.Trust == journal.TrustPublic && !s.belongs {
			if err := h.weigh(tx, &s, &k); err != nil {
				return err
			}
		}
		if err := record(tx, s.mail, &k, s.msg); err != nil {
			return err
		}
		running, err = h.act(tx, &k, s)
		return err
	})
	switch {
	case err == nil && running:
		h.Dispatch.Cancel(id)
	case err == nil && s.pays(payment.StatusSubmitted):
		h.Till.Poke()
	}
	if full, ok := errors.AsType[noRoom](err); ok {
		return h.notKept(s.mail, full.Reason)
	}
	return err
}

// notKept drops words for which there is no room. The task goes on without
// them, and whoever said them is told.
func (h *Handler) notKept(m mailbox.Mail, why task.Reason) error {
	h.notifyState(m, task.InputRequired, map[string]any{task.KeyReason: why}, why.Sentence())
	return drop(string(why))
}

// weigh adds a stranger's turn to what its task weighs, if there is room. To end
// a task there always is: of such a turn only its kind is kept then.
func (h *Handler) weigh(tx *journal.Tx, s *said, k *journal.Task) error {
	more := turnWeight(s.msg)
	err := h.room(tx, k.Peer, journal.Load{Bytes: more})
	if _, full := errors.AsType[noRoom](err); full && s.msg.Kind != task.KindText {
		s.msg, more, err = task.ChatMsg{Kind: s.msg.Kind}, 0, nil
	}
	k.Weight += more
	return err
}

// learn takes in what the message proved of its sender: the next one is judged
// by a history that may have grown, and answers go to the newest keys.
func (h *Handler) learn(tx *journal.Tx, s said, k *journal.Task) error {
	if k.Role == journal.Provider {
		id := known.Merge(known.Identity{KEL: k.PeerKEL, Keys: k.PeerKeys}, s.mail.Sender)
		k.PeerKEL, k.PeerKeys = id.KEL, id.Keys
	}
	return h.Book.Keep(tx, k.Peer, s.mail.Sender, s.belongs)
}

// record keeps the turn under the id its sender minted, which means something
// inside this task only. Without one, or with one that is taken, the message's
// own will do: no turn is lost for its sender's mistake. Of a turn in a public
// call only its kind is kept: nobody reads it, and anybody may send it.
func record(tx *journal.Tx, m mailbox.Mail, k *journal.Task, msg task.ChatMsg) error {
	if k.Trust == journal.TrustPublicCap {
		msg = task.ChatMsg{Kind: msg.Kind}
	}
	turn := journal.Message{
		Task: k.ID, ID: msg.MsgID, From: k.Role.Other(), Kind: msg.Kind, Body: msg.Body,
		Metadata: msg.Metadata, At: m.Sent(),
	}
	added := false
	if task.ValidID(turn.ID) {
		var err error
		if added, err = tx.AddMessage(&turn); err != nil {
			return err
		}
	}
	if !added {
		turn.ID = m.MID.String()
		if _, err := tx.AddMessage(&turn); err != nil {
			return err
		}
	}
	return tx.AddFiles(k.ID, turn.Seq, msg.Attachments)
}

// act moves the task on. It is true when a call at work is to be ended once
// this is on disk.
func (h *Handler) act(tx *journal.Tx, k *journal.Task, s said) (endCall bool, err error) {
	switch msg := s.msg; {
	case k.Role == journal.Requester:
		k.Heard = tx.Now()
		next, _ := k.State.Next(msg.Asked(s.meta))
		k.To(next, tx.Now())
	case k.Capability != "" && s.pays(payment.StatusSubmitted):
		may := func() bool { return h.notices.Allow(k.Peer, h.Now()) }
		return false, h.Till.Take(tx, k, s.meta[task.KeyPaymentPayload], may)
	case k.Capability != "" && s.pays(payment.StatusRejected):
		return false, h.Till.Declined(tx, k)
	case msg.Kind == task.KindCancel:
		return h.cancel(tx, k)
	case msg.Kind == task.KindEndRequest && k.Capability == "":
		return false, h.Dispatch.CompleteText(tx, k)
	case k.Capability == "":
		k.To(task.Working, tx.Now())
	}
	return endCall, tx.PutTask(k)
}

// cancel withdraws a task. Work that is paid goes on: it is only noted (L.5).
func (h *Handler) cancel(tx *journal.Tx, k *journal.Task) (endCall bool, err error) {
	held, err := till.Holds(tx, k.ID)
	switch {
	case err != nil:
		return false, err
	case !held && !k.Started:
		return false, h.Dispatch.Canceled(tx, k, "")
	}
	k.CancelRequested = true
	return !held, tx.PutTask(k)
}

// Bounds of the cancellations kept for tasks that have not come. Anybody can
// send one, so strangers together cannot take the place of a listed peer.
const (
	earlyCancelsPerSender = 32
	earlyCancelsTotal     = 10_000
)

// cancelAhead remembers a cancellation that overtook its task (L.5). One for
// which there is no room leaves nothing, a replay row neither.
func (h *Handler) cancelAhead(ctx context.Context, m mailbox.Mail, listed bool) error {
	if !task.ValidID(m.Ix) {
		return drop(UnknownTask)
	}
	return h.commit(ctx, h.Journal.Write, m, func(tx *journal.Tx) error {
		of, all, err := tx.EarlyCancels(m.From)
		if err != nil {
			return err
		}
		if of >= earlyCancelsPerSender || all >= earlyCancelsTotal && !listed {
			return drop(UnknownTask)
		}
		return tx.AddEarlyCancel(m.Ix, m.From, m.Expires())
	})
}

// waiting counts, per sender, the messages left in the mailbox because their
// task may be about to come.
type waiting struct {
	mu   sync.Mutex
	from map[string]map[[16]byte]time.Time
}

func newWaiting() *waiting { return &waiting{from: map[string]map[[16]byte]time.Time{}} }

func (w *waiting) add(from string, mid [16]byte, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.from[from] == nil {
		w.from[from] = map[[16]byte]time.Time{}
	}
	w.from[from][mid] = now
}

func (w *waiting) remove(from string, mid [16]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.from[from], mid)
	if len(w.from[from]) == 0 {
		delete(w.from, from)
	}
}

// others counts the sender's other messages that wait. One that was not seen
// for the whole window has left the mailbox some other way.
func (w *waiting) others(from string, mid [16]byte, now time.Time) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, seen := range w.from[from] {
		switch {
		case now.Sub(seen) > 2*WaitWindow:
			delete(w.from[from], other)
		case other != mid:
			n++
		}
	}
	return n
}
