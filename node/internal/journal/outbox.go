package journal

import (
	"time"
)

// Outgoing is a message on its way. Body is its draft; Sealed are the bytes of
// every attempt once the recipient's key is known (L.7), until this node's own
// key is rotated: then they are signed and sealed anew from the draft, which is
// read with Draft only.
type Outgoing struct {
	ID       int64
	Task     string
	Peer     string
	MID      []byte
	Type     string
	Body     []byte
	Sealed   []byte
	KSN      uint64 // the key state that signed Sealed
	Exp      time.Time
	Attempts int
	// Uncertain says that an attempt may have arrived although it failed. It is
	// set before each attempt and taken back when the hub certainly refused it.
	Uncertain bool
	Next      time.Time
	Error     string
	Created   time.Time
	Sent      time.Time
}

const outgoingColumns = `id, task, peer, mid, type, CASE WHEN sealed IS NULL THEN body END, sealed, ksn, exp, attempts, uncertain, next_at, error, created_at, sent_at`

func scanOutgoing(row scanner) (o Outgoing, err error) {
	var exp, next, created, sent int64
	err = row.Scan(&o.ID, &o.Task, &o.Peer, &o.MID, &o.Type, &o.Body, &o.Sealed, &o.KSN, &exp, &o.Attempts, &o.Uncertain, &next, &o.Error, &created, &sent)
	o.Exp, o.Next, o.Created, o.Sent = at(exp), at(next), at(created), at(sent)
	return o, err
}

// Enqueue puts a message behind what is already on its way in its task.
func (t *Tx) Enqueue(o *Outgoing) error {
	if o.Next.IsZero() {
		o.Next = t.now
	}
	o.Created = t.now
	t.queued, t.touched = true, true
	_, err := t.one(`INSERT INTO outbox (task, peer, mid, type, body, sealed, ksn, exp, attempts, uncertain, next_at, error, created_at, sent_at)
		VALUES (?,?,?,?,?,?,?,?,0,0,?,'',?,0) RETURNING id`,
		[]any{o.Task, o.Peer, o.MID, o.Type, o.Body, o.Sealed, o.KSN, ms(o.Exp), ms(o.Next), ms(o.Created)}, &o.ID)
	return err
}

// Due lists the messages to try now: of each task and peer the first one only,
// so that nothing overtakes.
func (t *Tx) Due(limit int) ([]Outgoing, error) {
	return collect(t, scanOutgoing, `SELECT `+outgoingColumns+` FROM outbox o
		WHERE sent_at = 0 AND next_at <= ?1
		  AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.task = o.task AND e.peer = o.peer AND e.sent_at = 0 AND e.id < o.id)
		ORDER BY next_at LIMIT ?2`, ms(t.now), limit)
}

// NextDue is when the next message becomes due; false when none will by time.
func (t *Tx) NextDue() (time.Time, bool, error) {
	var next int64
	found, err := t.one(`SELECT next_at FROM outbox o WHERE sent_at = 0 AND next_at > ?
		AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.task = o.task AND e.peer = o.peer AND e.sent_at = 0 AND e.id < o.id)
		ORDER BY next_at LIMIT 1`, []any{ms(t.now)}, &next)
	return at(next), found, err
}

// Seal fixes the bytes of a draft, signed under a key state.
func (t *Tx) Seal(id int64, sealed []byte, ksn uint64) error {
	return t.exec(`UPDATE outbox SET sealed = ?, ksn = ? WHERE id = ?`, sealed, ksn, id)
}

// Draft is what a message was sealed from; nil where an older program kept none.
func (t *Tx) Draft(id int64) (body []byte, err error) {
	_, err = t.one(`SELECT body FROM outbox WHERE id = ?`, []any{id}, &body)
	return body, err
}

// Attempting counts an attempt before it is made: a crash in the middle must
// not make a message look untouched. False when it was taken out meanwhile.
func (t *Tx) Attempting(id int64) (bool, error) {
	t.touched = true
	n, err := t.affect(`UPDATE outbox SET attempts = attempts + 1, uncertain = 1 WHERE id = ?`, id)
	return n == 1, err
}

// Postpone sets the next attempt and notes why, so that whoever waits for the
// task hears of it.
func (t *Tx) Postpone(o Outgoing, next time.Time, uncertain bool, why string) error {
	err := t.exec(`UPDATE outbox SET next_at = ?, uncertain = ?, error = ? WHERE id = ?`, ms(next), uncertain, why, o.ID)
	if err != nil {
		return err
	}
	return t.bump(o.Task)
}

// Withdraw takes out everything of a task that waits.
func (t *Tx) Withdraw(task string) error {
	t.queued, t.touched = true, true
	return t.exec(`DELETE FROM outbox WHERE task = ? AND sent_at = 0`, task)
}

// Hasten brings the attempts that the hub's absence put off forward to then.
func (t *Tx) Hasten(id int64, then time.Time) error {
	t.queued = true
	return t.exec(`UPDATE outbox SET next_at = min(next_at, ?) WHERE id = ? AND sent_at = 0`, ms(then), id)
}

// MarkSent keeps an answer for sending again and forgets everything else.
func (t *Tx) MarkSent(o Outgoing, keep bool) error {
	t.touched = true
	if keep {
		return t.exec(`UPDATE outbox SET sent_at = ?, error = '' WHERE id = ?`, ms(t.now), o.ID)
	}
	return t.exec(`DELETE FROM outbox WHERE id = ?`, o.ID)
}

// Drop takes a message out unsent.
func (t *Tx) Drop(id int64) error {
	t.queued, t.touched = true, true
	return t.exec(`DELETE FROM outbox WHERE id = ?`, id)
}

// Outgoing lists what is kept of a task's messages, sent answers included.
func (t *Tx) Outgoing(task string) ([]Outgoing, error) {
	return collect(t, scanOutgoing, `SELECT `+outgoingColumns+` FROM outbox WHERE task = ? ORDER BY id`, task)
}

// Unsent lists everything that waits, oldest first.
func (t *Tx) Unsent() ([]Outgoing, error) {
	return collect(t, scanOutgoing, `SELECT `+outgoingColumns+` FROM outbox WHERE sent_at = 0 ORDER BY id`)
}

// AnswerSent reports whether the task's answer is kept and not waiting: then it
// can be sent again.
func (t *Tx) AnswerSent(task, peer string) (sent bool, err error) {
	_, err = t.one(`SELECT sent_at > 0 AND exp > ? FROM outbox WHERE task = ? AND peer = ? ORDER BY id DESC LIMIT 1`,
		[]any{ms(t.now), task, peer}, &sent)
	return sent, err
}

// Resend queues the answer again, with the same bytes.
func (t *Tx) Resend(task, peer string) error {
	t.queued = true
	return t.exec(`UPDATE outbox SET sent_at = 0, next_at = ?1 WHERE id = (
		SELECT max(id) FROM outbox WHERE task = ?2 AND peer = ?3)`, ms(t.now), task, peer)
}

// OutboxDepth counts what waits, and says since when.
func (t *Tx) OutboxDepth() (n int, oldest time.Time, err error) {
	var ms int64
	_, err = t.one(`SELECT count(*), coalesce(min(created_at), 0) FROM outbox WHERE sent_at = 0`, nil, &n, &ms)
	return n, at(ms), err
}

// PurgeOutbox forgets answers that can no longer be sent.
func (t *Tx) PurgeOutbox() (int64, error) {
	return t.affect(`DELETE FROM outbox WHERE sent_at > 0 AND exp < ?`, ms(t.now))
}
