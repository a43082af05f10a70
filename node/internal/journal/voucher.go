package journal

import "time"

// untold is the outcome, as JSON, of what was bought in a task, which has its own, and
// of what was forgotten.
var untold = []byte("null")

// SpendVoucher claims what a payment bought; false when it was spent before, with
// another copy of the voucher or in a task.
func (t *Tx) SpendVoucher(authID string, voucher []byte) (first bool, err error) {
	n, err := t.affect(`INSERT INTO voucher (auth_id, voucher, spent_at)
		SELECT ?,?,? WHERE NOT EXISTS (SELECT 1 FROM sale WHERE auth_id = ?) ON CONFLICT DO NOTHING`,
		authID, voucher, ms(t.now), authID)
	return n == 1, err
}

// ReleaseVoucher takes a claim back of which nothing came.
func (t *Tx) ReleaseVoucher(authID string) error {
	return t.exec(`DELETE FROM voucher WHERE auth_id = ? AND outcome IS NULL`, authID)
}

// Bought tells whether a payment bought something here, and what came of a voucher, as
// JSON: nil before its end, null where that is told no more.
func (t *Tx) Bought(authID string) (spent bool, outcome []byte, err error) {
	spent, err = t.one(`SELECT outcome FROM voucher WHERE auth_id = ?`, []any{authID}, &outcome)
	if err != nil || spent {
		return spent, outcome, err
	}
	var one int
	spent, err = t.one(`SELECT 1 FROM sale WHERE auth_id = ? LIMIT 1`, []any{authID}, &one)
	return spent, untold, err
}

// PutOutcome records what came of a voucher.
func (t *Tx) PutOutcome(authID string, outcome []byte) error {
	return t.exec(`UPDATE voucher SET outcome = ? WHERE auth_id = ?`, outcome, authID)
}

// PurgeVouchers forgets what came of vouchers that were spent before then, and nothing
// of their having been spent.
func (t *Tx) PurgeVouchers(before time.Time) (int64, error) {
	return t.affect(`UPDATE voucher SET outcome = ?, voucher = x'' WHERE spent_at < ? AND voucher <> x''`, untold, ms(before))
}
