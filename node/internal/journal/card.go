package journal

import "time"

// ExtendedCard is a verified card that an agent gave this node, and the mark it
// left: no older statement of that variant is taken after it.
type ExtendedCard struct {
	AID, Variant string
	Card         []byte
	Seq          int64
	Hash         []byte
	Fetched      time.Time
}

// PutExtendedCard inserts or replaces one.
func (t *Tx) PutExtendedCard(c ExtendedCard) error {
	return t.exec(`INSERT INTO extended_card (aid, variant, card, seq, hash, fetched_at) VALUES (?,?,?,?,?,?)
		ON CONFLICT (aid, variant) DO UPDATE SET card = excluded.card, seq = excluded.seq, hash = excluded.hash, fetched_at = excluded.fetched_at`,
		c.AID, c.Variant, c.Card, c.Seq, c.Hash, ms(c.Fetched))
}

// ExtendedCards lists the variants that are kept of an agent, the latest first.
func (t *Tx) ExtendedCards(aid string) ([]ExtendedCard, error) {
	return collect(t, func(row scanner) (c ExtendedCard, err error) {
		var fetched int64
		err = row.Scan(&c.AID, &c.Variant, &c.Card, &c.Seq, &c.Hash, &fetched)
		c.Fetched = at(fetched)
		return c, err
	}, `SELECT aid, variant, card, seq, hash, fetched_at FROM extended_card WHERE aid = ? ORDER BY fetched_at DESC`, aid)
}
