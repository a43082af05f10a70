package journal

import (
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Role is the side of a task this node stands on.
type Role string

// The two roles, and the two senders of messages.
const (
	Requester Role = "requester"
	Provider  Role = "provider"
)

// Other is the side the peer stands on.
func (r Role) Other() Role {
	if r == Requester {
		return Provider
	}
	return Requester
}

// Trust is why a delegation was accepted (L.1). It decides what its requester
// may say later.
type Trust string

// The grounds for accepting.
const (
	TrustPeer      Trust = "peer"       // on the allow or trust list
	TrustPublic    Trust = "public"     // text under the open policy
	TrustPublicCap Trust = "public_cap" // a public capability
)

// Task is one task. A row is written whole, so change what you read in the same
// transaction.
type Task struct {
	ID, Peer, ContextID string
	Role                Role
	Capability          string // empty for a text task
	Args                []byte
	Goal                string
	Doc                 []byte // the TaskDoc as it travelled
	RequestCID          string
	Trust               Trust // of a provider's task

	State       task.State
	Effect      string // G.3; empty before the end, and for text
	Reason      string
	Note        string // words that came with the state
	RetryAfter  time.Duration
	Deliverable []byte
	Receipt     []byte
	ResultCID   string

	// The requester's identity, kept on the provider's task only, so that a
	// stranger can be answered without becoming a known peer (E.10).
	PeerKEL, PeerKeys []byte
	Weight            int64 // bytes kept of it, counted for TrustPublic only

	Started         bool // the provider's work may have begun
	CancelRequested bool
	LateResult      bool // a verified result came after the end

	ViaHub  string    // the hub that ours carried the delegation to; empty for ours
	Sent    time.Time // the hub took the delegation
	Heard   time.Time // the first answer of the peer
	Created time.Time
	Updated time.Time
	Ended   time.Time
	Version int64
}

// To moves the task on; false when its state is terminal and nothing changes.
func (k *Task) To(s task.State, now time.Time) bool {
	if k.State.Terminal() {
		return false
	}
	k.State = s
	if s.Terminal() {
		k.Ended = now
	}
	return true
}

const taskColumns = `id, role, peer, context_id, capability, args, goal, doc, request_cid, trust,
	state, effect, reason, note, retry_after_ms, deliverable, receipt, result_cid,
	peer_kel, peer_keys, started, cancel_requested, late_result,
	sent_at, heard_at, created_at, updated_at, ended_at, version, weight, via_hub`

func scanTask(row scanner) (Task, error) {
	var k Task
	var retry, sent, heard, created, updated, ended int64
	err := row.Scan(&k.ID, &k.Role, &k.Peer, &k.ContextID, &k.Capability, &k.Args, &k.Goal, &k.Doc, &k.RequestCID, &k.Trust,
		&k.State, &k.Effect, &k.Reason, &k.Note, &retry, &k.Deliverable, &k.Receipt, &k.ResultCID,
		&k.PeerKEL, &k.PeerKeys, &k.Started, &k.CancelRequested, &k.LateResult,
		&sent, &heard, &created, &updated, &ended, &k.Version, &k.Weight, &k.ViaHub)
	k.RetryAfter = time.Duration(retry) * time.Millisecond
	k.Sent, k.Heard, k.Created, k.Updated, k.Ended = at(sent), at(heard), at(created), at(updated), at(ended)
	return k, err
}

// PutTask inserts or replaces a task and gives it the next version.
func (t *Tx) PutTask(k *Task) error {
	t.version++
	t.touched = true
	k.Version, k.Updated = t.version, t.now
	if k.Created.IsZero() {
		k.Created = t.now
	}
	return t.exec(`INSERT INTO task (`+taskColumns+`)
		VALUES (?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?,?,?,?)
		ON CONFLICT (id) DO UPDATE SET
			state = excluded.state, effect = excluded.effect, reason = excluded.reason, note = excluded.note,
			retry_after_ms = excluded.retry_after_ms, deliverable = excluded.deliverable, receipt = excluded.receipt,
			result_cid = excluded.result_cid, peer_kel = excluded.peer_kel, peer_keys = excluded.peer_keys,
			started = excluded.started, cancel_requested = excluded.cancel_requested, late_result = excluded.late_result,
			sent_at = excluded.sent_at, heard_at = excluded.heard_at, updated_at = excluded.updated_at,
			ended_at = excluded.ended_at, version = excluded.version, weight = excluded.weight,
			via_hub = excluded.via_hub`,
		k.ID, k.Role, k.Peer, k.ContextID, k.Capability, k.Args, k.Goal, k.Doc, k.RequestCID, k.Trust,
		k.State, k.Effect, k.Reason, k.Note, k.RetryAfter.Milliseconds(), k.Deliverable, k.Receipt, k.ResultCID,
		k.PeerKEL, k.PeerKeys, k.Started, k.CancelRequested, k.LateResult,
		ms(k.Sent), ms(k.Heard), ms(k.Created), ms(k.Updated), ms(k.Ended), k.Version, k.Weight, k.ViaHub)
}

// bump gives the task the next version though its own row stays as it is.
func (t *Tx) bump(id string) error {
	t.version++
	t.touched = true
	return t.exec(`UPDATE task SET version = ? WHERE id = ?`, t.version, id)
}

// Task finds a task; false when there is none.
func (t *Tx) Task(id string) (Task, bool, error) {
	all, err := collect(t, scanTask, `SELECT `+taskColumns+` FROM task WHERE id = ?`, id)
	if err != nil || len(all) == 0 {
		return Task{}, false, err
	}
	return all[0], true, nil
}

// NeedTask is Task for those who cannot go on without it.
func (t *Tx) NeedTask(id string) (Task, error) {
	k, found, err := t.Task(id)
	if err == nil && !found {
		err = errs.New(errs.NotFound, "task_unknown", "this node knows no task %q", id)
	}
	return k, err
}

// Filter selects tasks; zero members do not filter.
type Filter struct {
	Role      Role
	State     task.State
	Peer      string
	ContextID string
	Ended     *bool
	Text      *bool
	Before    int64 // version: where the page before ended
	Limit     int
}

// Tasks lists tasks, the latest change first.
func (t *Tx) Tasks(f Filter) ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task
		WHERE (?1 = '' OR role = ?1) AND (?2 = '' OR state = ?2) AND (?3 = '' OR peer = ?3)
		  AND (?4 = '' OR context_id = ?4)
		  AND (?5 IS NULL OR (ended_at > 0) = ?5) AND (?6 IS NULL OR (capability = '') = ?6)
		  AND (?7 = 0 OR version < ?7)
		ORDER BY version DESC LIMIT ?8`,
		f.Role, f.State, f.Peer, f.ContextID, flag(f.Ended), flag(f.Text), f.Before, f.Limit)
}

// flag keeps "not asked" apart from "no".
func flag(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

// Started lists the provider's tasks whose work was under way when the journal
// was last written: after a start these are the interrupted ones.
func (t *Tx) Started() ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task
		WHERE role = 'provider' AND ended_at = 0 AND started`)
}

// OpenWith lists the tasks with a peer that have no end.
func (t *Tx) OpenWith(peer string) ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task WHERE peer = ? AND ended_at = 0`, peer)
}

// OpenPeers lists the peers of the tasks that have no end.
func (t *Tx) OpenPeers() ([]string, error) {
	return collect(t, func(row scanner) (aid string, err error) { return aid, row.Scan(&aid) },
		`SELECT DISTINCT peer FROM task WHERE ended_at = 0`)
}

// Silent lists the requester's tasks that were delivered before then and of
// which nothing was heard since (L.9).
func (t *Tx) Silent(then time.Time) ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task
		WHERE role = 'requester' AND state = 'submitted' AND ended_at = 0
		  AND sent_at > 0 AND sent_at <= ? AND heard_at = 0
		  AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task = task.id AND o.sent_at = 0)`, ms(then))
}

// Unread lists the text tasks that came before then and that nobody here has
// reacted to.
func (t *Tx) Unread(then time.Time) ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task
		WHERE role = 'provider' AND state = 'submitted' AND ended_at = 0 AND capability = '' AND created_at <= ?`, ms(then))
}

// NextTending is when the next task becomes Silent, Unread or Overdue, or a payment on
// the network Lapsed, if nothing changes; false when none will.
func (t *Tx) NextTending(silence, unread time.Duration, network string) (time.Time, bool, error) {
	var next *int64
	_, err := t.one(`SELECT min(due) FROM (
		SELECT min(sent_at) + ? AS due FROM task
		WHERE role = 'requester' AND state = 'submitted' AND ended_at = 0 AND sent_at > 0 AND heard_at = 0
		UNION ALL
		SELECT min(created_at) + ? FROM task
		WHERE role = 'provider' AND state = 'submitted' AND ended_at = 0 AND capability = ''
		UNION ALL
		SELECT min(q.exp) FROM quote q JOIN task k ON k.id = q.task
		WHERE k.role = 'provider' AND k.state = 'input-required' AND k.ended_at = 0 AND NOT EXISTS (SELECT 1 FROM sale s WHERE s.task = k.id)
		UNION ALL
		SELECT min(not_after) + ?`+unproven+`)`,
		[]any{silence.Milliseconds(), unread.Milliseconds(), SpendGrace.Milliseconds(), network, ms(t.now.Add(-spendMemory))}, &next)
	if err != nil || next == nil {
		return time.Time{}, false, err
	}
	return at(*next), true, nil
}

// OpenCount counts the tasks without an end.
func (t *Tx) OpenCount() (n int, err error) {
	_, err = t.one(`SELECT count(*) FROM task WHERE ended_at = 0`, nil, &n)
	return n, err
}

// PurgeTasks deletes what strangers asked for and what ended before then (L.10);
// the evidence of it stays.
func (t *Tx) PurgeTasks(then time.Time) (int64, error) {
	return t.affect(`DELETE FROM task WHERE role = 'provider' AND trust IN ('public_cap', 'public')
		AND ended_at > 0 AND ended_at < ?`, ms(then))
}

// Load is what is kept of the texts of strangers: tasks without an end, and the
// bytes of all of them.
type Load struct{ Tasks, Bytes int64 }

// StrangersLoad is that of all strangers.
func (t *Tx) StrangersLoad() (l Load, err error) {
	_, err = t.one(loadQuery, nil, &l.Tasks, &l.Bytes)
	return l, err
}

// StrangerLoad is that of one.
func (t *Tx) StrangerLoad(aid string) (l Load, err error) {
	_, err = t.one(loadQuery+` AND peer = ?`, []any{aid}, &l.Tasks, &l.Bytes)
	return l, err
}

const loadQuery = `SELECT count(*) FILTER (WHERE ended_at = 0), coalesce(sum(weight), 0) FROM task WHERE trust = 'public'`
