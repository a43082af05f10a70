package journal

import "time"

// ReplayMargin is how long a replay row outlives its message (L.6): clocks
// disagree, and a message is accepted until its own last moment.
const ReplayMargin = 5 * time.Minute

// Remember notes that the message was accepted; false when it was before, and
// then the transaction must change nothing.
func (t *Tx) Remember(from string, mid []byte, exp time.Time) (bool, error) {
	n, err := t.affect(`INSERT INTO replay (sender, mid, exp) VALUES (?,?,?) ON CONFLICT DO NOTHING`, from, mid, ms(exp))
	return n == 1, err
}

// Seen reports whether the message was accepted before.
func (t *Tx) Seen(from string, mid []byte) (bool, error) {
	var one int
	return t.one(`SELECT 1 FROM replay WHERE sender = ? AND mid = ?`, []any{from, mid}, &one)
}

// PurgeReplay forgets messages that no clock would still accept.
func (t *Tx) PurgeReplay() (int64, error) {
	return t.affect(`DELETE FROM replay WHERE exp < ?`, ms(t.now.Add(-ReplayMargin)))
}

// AddEarlyCancel notes that the requester withdrew a task this node has not
// seen; a delegation that comes after it is not run (L.5).
func (t *Tx) AddEarlyCancel(task, peer string, exp time.Time) error {
	return t.exec(`INSERT INTO early_cancel (task, peer, exp) VALUES (?,?,?) ON CONFLICT DO NOTHING`, task, peer, ms(exp))
}

// EarlyCancel reports whether the task was withdrawn before it came.
func (t *Tx) EarlyCancel(task, peer string) (bool, error) {
	var one int
	return t.one(`SELECT 1 FROM early_cancel WHERE task = ? AND peer = ?`, []any{task, peer}, &one)
}

// EarlyCancels counts those of one requester, and all.
func (t *Tx) EarlyCancels(peer string) (of, all int, err error) {
	_, err = t.one(`SELECT coalesce(sum(peer = ?), 0), count(*) FROM early_cancel`, []any{peer}, &of, &all)
	return of, all, err
}

// PurgeEarlyCancels forgets withdrawals whose delegation can no longer come.
func (t *Tx) PurgeEarlyCancels() (int64, error) {
	return t.affect(`DELETE FROM early_cancel WHERE exp < ?`, ms(t.now))
}
