package journal

import "time"

// Bounds of the memory of refusals (L.6).
const (
	RefusalsPerSender = 1024
	RefusalsTotal     = 100_000
	RefusalFloors     = 100_000
)

// Refusal is a delegation that was refused for good.
type Refusal struct {
	From    string
	MID     []byte
	TS, Exp time.Time
}

// Refuse remembers the refusal until the message expires. Where there is no
// room, the sender's own oldest refusal makes way and turns into a floor under
// the times of that sender: nobody else is affected.
func (t *Tx) Refuse(r Refusal) error {
	err := t.exec(`INSERT INTO refusal (sender, mid, ts, exp) VALUES (?,?,?,?) ON CONFLICT DO NOTHING`,
		r.From, r.MID, ms(r.TS), ms(r.Exp))
	if err != nil {
		return err
	}
	full, err := t.refusalsFull(r.From)
	if err != nil || !full {
		return err
	}
	return t.pushOut(r.From)
}

func (t *Tx) refusalsFull(sender string) (bool, error) {
	var full bool
	_, err := t.one(`SELECT (SELECT count(*) FROM refusal WHERE sender = ?) > ? OR (SELECT count(*) FROM refusal) > ?`,
		[]any{sender, RefusalsPerSender, RefusalsTotal}, &full)
	return full, err
}

func (t *Tx) pushOut(sender string) error {
	var ts int64
	_, err := t.one(`DELETE FROM refusal WHERE (sender, mid) IN
		(SELECT sender, mid FROM refusal WHERE sender = ? ORDER BY ts LIMIT 1) RETURNING ts`, []any{sender}, &ts)
	if err != nil {
		return err
	}
	err = t.exec(`INSERT INTO refusal_floor (sender, ts) VALUES (?,?)
		ON CONFLICT (sender) DO UPDATE SET ts = max(ts, excluded.ts)`, sender, ts)
	if err != nil {
		return err
	}
	return t.exec(`DELETE FROM refusal_floor WHERE sender IN
		(SELECT sender FROM refusal_floor ORDER BY ts LIMIT max(0, (SELECT count(*) FROM refusal_floor) - ?))`, RefusalFloors)
}

// Refused reports whether this very message was refused.
func (t *Tx) Refused(from string, mid []byte) (bool, error) {
	var one int
	return t.one(`SELECT 1 FROM refusal WHERE sender = ? AND mid = ?`, []any{from, mid}, &one)
}

// BelowFloor reports whether a first delivery with this time may be one of the
// refusals that were pushed out.
func (t *Tx) BelowFloor(from string, ts time.Time) (bool, error) {
	var one int
	return t.one(`SELECT 1 FROM refusal_floor WHERE sender = ? AND ts >= ?`, []any{from, ms(ts)}, &one)
}

// PurgeRefusals forgets what would not be accepted any more in any case.
// Messages live at most lifetime, so an older floor holds nothing back.
func (t *Tx) PurgeRefusals(lifetime time.Duration) (int64, error) {
	n, err := t.affect(`DELETE FROM refusal WHERE exp < ?`, ms(t.now.Add(-ReplayMargin)))
	if err != nil {
		return n, err
	}
	return n, t.exec(`DELETE FROM refusal_floor WHERE ts < ?`, ms(t.now.Add(-lifetime-ReplayMargin)))
}
