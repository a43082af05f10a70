package journal

import "time"

// Quote is what a task costs, as its provider wrote it.
type Quote struct {
	Task     string
	Required []byte // the x402 PaymentRequired
	Refused  []byte // a list of answers to payments that came to nothing
	Exp      time.Time
}

// PutQuote inserts or replaces the quote of a task that is there.
func (t *Tx) PutQuote(q Quote) error {
	return t.exec(`INSERT INTO quote (task, required, refused, exp) VALUES (?,?,?,?)
		ON CONFLICT (task) DO UPDATE SET required = excluded.required, refused = excluded.refused, exp = excluded.exp`,
		q.Task, nonNil(q.Required), nonNil(q.Refused), ms(q.Exp))
}

// Quote finds the quote of a task; false when there is none.
func (t *Tx) Quote(task string) (q Quote, found bool, err error) {
	var exp int64
	q.Task = task
	found, err = t.one(`SELECT required, refused, exp FROM quote WHERE task = ?`, []any{task}, &q.Required, &q.Refused, &exp)
	q.Exp = at(exp)
	return q, found, err
}

// Overdue lists the tasks of this node whose quote ran out before anybody paid.
func (t *Tx) Overdue() ([]Task, error) {
	return collect(t, scanTask, `SELECT `+taskColumns+` FROM task WHERE role = 'provider' AND state = 'input-required'
		AND ended_at = 0 AND EXISTS (SELECT 1 FROM quote q WHERE q.task = task.id AND q.exp <= ?)
		AND NOT EXISTS (SELECT 1 FROM sale s WHERE s.task = task.id)`, ms(t.now))
}

// Consent is what a person agreed to pay for a task before its quote came.
type Consent struct {
	Tier string
	Most uint64
}

// PutConsent keeps it until the quote has come.
func (t *Tx) PutConsent(task string, c Consent) error {
	return t.exec(`INSERT INTO consent (task, tier, most) VALUES (?,?,?)`, task, c.Tier, int64(c.Most))
}

// TakeConsent gives it once.
func (t *Tx) TakeConsent(task string) (c Consent, found bool, err error) {
	var most int64
	found, err = t.one(`DELETE FROM consent WHERE task = ? RETURNING tier, most`, []any{task}, &c.Tier, &most)
	c.Most = uint64(most)
	return c, found, err
}
