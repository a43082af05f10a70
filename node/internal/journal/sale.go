package journal

import (
	"time"

	"github.com/anet-hub/anet/shared/task"
)

// Sale is a payment that this node was given for a call.
type Sale struct {
	Task, Peer, Capability string
	AuthID                 string
	Amount                 uint64
	Network                string
	Wanted, Payload        []byte // what the ledger is given, as JSON
	Settlement             []byte // its answer, once it settled
	Attempts               int
	Error                  string // of the latest attempt
	Created, Settled       time.Time
}

// Paid reports whether the ledger settled it.
func (s Sale) Paid() bool { return !s.Settled.IsZero() }

const saleColumns = `task, peer, capability, auth_id, amount, network, wanted, payload, settlement, attempts, error, created_at, settled_at`

func scanSale(row scanner) (s Sale, err error) {
	var amount, created, settled int64
	err = row.Scan(&s.Task, &s.Peer, &s.Capability, &s.AuthID, &amount, &s.Network, &s.Wanted, &s.Payload, &s.Settlement,
		&s.Attempts, &s.Error, &created, &settled)
	s.Amount, s.Created, s.Settled = uint64(amount), at(created), at(settled)
	return s, err
}

// PutSale inserts or replaces the payment of a task.
func (t *Tx) PutSale(s Sale) error {
	if s.Created.IsZero() {
		s.Created = t.now
	}
	err := t.exec(`INSERT INTO sale (`+saleColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (task) DO UPDATE SET settlement = excluded.settlement, attempts = excluded.attempts,
			error = excluded.error, settled_at = excluded.settled_at`,
		s.Task, s.Peer, s.Capability, s.AuthID, int64(s.Amount), s.Network, s.Wanted, s.Payload, s.Settlement,
		s.Attempts, s.Error, ms(s.Created), ms(s.Settled))
	if err != nil {
		return err
	}
	return t.bump(s.Task)
}

// DropSale forgets a payment that certainly did not move.
func (t *Tx) DropSale(task string) error {
	return t.exec(`DELETE FROM sale WHERE task = ? AND settled_at = 0`, task)
}

// Sale finds the payment of a task; false when there is none.
func (t *Tx) Sale(task string) (Sale, bool, error) {
	all, err := collect(t, scanSale, `SELECT `+saleColumns+` FROM sale WHERE task = ?`, task)
	if err != nil || len(all) == 0 {
		return Sale{}, false, err
	}
	return all[0], true, nil
}

// Due is a task whose payment, or whose paid work, is to be seen to.
type Due struct{ Task, Capability string }

func scanDue(row scanner) (d Due, err error) {
	err = row.Scan(&d.Task, &d.Capability)
	return d, err
}

// Unsettled lists the tasks of payments whose outcome is not known, the oldest first.
func (t *Tx) Unsettled(limit int) ([]Due, error) {
	return collect(t, scanDue, `SELECT task, capability FROM sale WHERE settled_at = 0 ORDER BY created_at LIMIT ?`, limit)
}

// Owed lists the tasks that were paid and whose work was not begun, the longest
// waiting first.
func (t *Tx) Owed(limit int) ([]Due, error) {
	return collect(t, scanDue, `SELECT id, capability FROM task
		WHERE role = 'provider' AND state = 'working' AND ended_at = 0 AND NOT started
		  AND EXISTS (SELECT 1 FROM sale s WHERE s.task = task.id AND s.settled_at > 0)
		ORDER BY created_at LIMIT ?`, limit)
}

// Attached gives the attachments of the request of a task, data included.
func (t *Tx) Attached(id string) ([]task.Attachment, error) {
	return collect(t, scanFile, `SELECT name, mime, size, cid, data FROM attachment WHERE task = ? AND message = 0 ORDER BY n`, id)
}
