package journal

import "time"

// Peer is an identity kept for good: its key history, which is only ever
// replaced by an extension, and its newest signed encryption key set.
type Peer struct {
	AID     string
	KEL     []byte
	Keys    []byte    // signed set, nil when none is known
	Checked time.Time // when the hub was last asked for the set
}

// Peer finds a stored identity; false when there is none.
func (t *Tx) Peer(aid string) (Peer, bool, error) {
	p := Peer{AID: aid}
	var checked int64
	found, err := t.one(`SELECT kel, keys, checked_at FROM peer WHERE aid = ?`, []any{aid}, &p.KEL, &p.Keys, &checked)
	p.Checked = at(checked)
	return p, found, err
}

// PutPeer stores an identity. Whether it may replace the one on record is the
// caller's decision, taken in this transaction.
func (t *Tx) PutPeer(p Peer) error {
	return t.exec(`INSERT INTO peer (aid, kel, keys, checked_at) VALUES (?,?,?,?)
		ON CONFLICT (aid) DO UPDATE SET kel = excluded.kel, keys = excluded.keys, checked_at = excluded.checked_at`,
		p.AID, p.KEL, p.Keys, ms(p.Checked))
}

// CheckedPeer notes when the hub was asked for an identity on record.
func (t *Tx) CheckedPeer(aid string, when time.Time) error {
	return t.exec(`UPDATE peer SET checked_at = ? WHERE aid = ?`, ms(when), aid)
}

// Evidence is a receipt and what it is about. It outlives the task.
type Evidence struct {
	Task, Peer, Capability, RequestCID, ResultCID string
	Role                                          Role
	Receipt                                       []byte
	At                                            time.Time
}

// AddEvidence keeps a receipt. Of a task of this node the latest stands, since a
// result may have asked for more before; of one it worked on, the first: its
// requester chose the id and may choose it again.
func (t *Tx) AddEvidence(e Evidence) error {
	return t.exec(`INSERT INTO evidence (task, role, peer, capability, request_cid, result_cid, receipt, at)
		VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (task, role) DO UPDATE SET
			result_cid = excluded.result_cid, receipt = excluded.receipt, at = excluded.at
		WHERE excluded.role = 'requester'`,
		e.Task, e.Role, e.Peer, e.Capability, e.RequestCID, e.ResultCID, e.Receipt, ms(t.now))
}

// Evidence finds the receipt of a task.
func (t *Tx) Evidence(task string, role Role) (Evidence, bool, error) {
	e := Evidence{Task: task, Role: role}
	var when int64
	found, err := t.one(`SELECT peer, capability, request_cid, result_cid, receipt, at FROM evidence WHERE task = ? AND role = ?`,
		[]any{task, role}, &e.Peer, &e.Capability, &e.RequestCID, &e.ResultCID, &e.Receipt, &when)
	e.At = at(when)
	return e, found, err
}
