package journal

// Carried is mail that was fetched from a hub this node left. It is received like
// mail of the present one.
type Carried struct {
	ID       int64
	Envelope []byte
}

// Carry keeps an envelope until it is dropped.
func (t *Tx) Carry(envelope []byte) error {
	return t.exec(`INSERT INTO carried (envelope) VALUES (?)`, envelope)
}

// LastCarried is the highest id there is, 0 where nothing is carried.
func (t *Tx) LastCarried() (id int64, err error) {
	_, err = t.one(`SELECT coalesce(max(id), 0) FROM carried`, nil, &id)
	return id, err
}

// CarriedAfter gives the next after an id; false where there is none.
func (t *Tx) CarriedAfter(id int64) (c Carried, found bool, err error) {
	found, err = t.one(`SELECT id, envelope FROM carried WHERE id > ? ORDER BY id LIMIT 1`, []any{id}, &c.ID, &c.Envelope)
	return c, found, err
}

// DropCarried forgets one that was received.
func (t *Tx) DropCarried(id int64) error {
	return t.exec(`DELETE FROM carried WHERE id = ?`, id)
}
