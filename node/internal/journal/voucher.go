package journal

// SpendVoucher claims a voucher; false when it was spent before, and then outcome
// is what came of it, nil where that is not known.
func (t *Tx) SpendVoucher(id string, voucher []byte) (first bool, outcome []byte, err error) {
	n, err := t.affect(`INSERT INTO voucher (id, voucher, spent_at) VALUES (?,?,?) ON CONFLICT DO NOTHING`, id, voucher, ms(t.now))
	if err != nil || n == 1 {
		return err == nil, nil, err
	}
	_, outcome, err = t.Voucher(id)
	return false, outcome, err
}

// Voucher tells whether one was spent, and what came of it.
func (t *Tx) Voucher(id string) (spent bool, outcome []byte, err error) {
	spent, err = t.one(`SELECT outcome FROM voucher WHERE id = ?`, []any{id}, &outcome)
	return spent, outcome, err
}

// PutOutcome records what came of a voucher.
func (t *Tx) PutOutcome(id string, outcome []byte) error {
	return t.exec(`UPDATE voucher SET outcome = ? WHERE id = ?`, outcome, id)
}
