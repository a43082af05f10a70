package journal

// SpendVoucher claims what a payment bought; false when it was spent before, with
// another copy of the voucher or in a task.
func (t *Tx) SpendVoucher(authID string, voucher []byte) (first bool, err error) {
	n, err := t.affect(`INSERT INTO voucher (auth_id, voucher, spent_at)
		SELECT ?,?,? WHERE NOT EXISTS (SELECT 1 FROM sale WHERE auth_id = ?) ON CONFLICT DO NOTHING`,
		authID, voucher, ms(t.now), authID)
	return n == 1, err
}

// Bought tells whether a payment bought something here, and what came of a voucher;
// nil where that is not known.
func (t *Tx) Bought(authID string) (spent bool, outcome []byte, err error) {
	spent, err = t.one(`SELECT outcome FROM voucher WHERE auth_id = ?`, []any{authID}, &outcome)
	if err != nil || spent {
		return spent, outcome, err
	}
	var one int
	spent, err = t.one(`SELECT 1 FROM sale WHERE auth_id = ? LIMIT 1`, []any{authID}, &one)
	return spent, nil, err
}

// PutOutcome records what came of a voucher.
func (t *Tx) PutOutcome(authID string, outcome []byte) error {
	return t.exec(`UPDATE voucher SET outcome = ? WHERE auth_id = ?`, outcome, authID)
}
