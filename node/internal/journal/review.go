package journal

import "time"

// Review is what this node said of a task it asked for.
type Review struct {
	Task     string
	Rating   int
	Comment  string
	Signed   []byte
	Created  time.Time
	Accepted time.Time // zero while no hub has taken it
}

// PutReview inserts or replaces a review. The task has changed with it.
func (t *Tx) PutReview(r Review) error {
	err := t.exec(`INSERT INTO review (task, rating, comment, signed, created_at, accepted_at) VALUES (?,?,?,?,?,?)
		ON CONFLICT (task) DO UPDATE SET rating = excluded.rating, comment = excluded.comment, signed = excluded.signed,
			created_at = excluded.created_at, accepted_at = excluded.accepted_at`,
		r.Task, r.Rating, r.Comment, r.Signed, ms(r.Created), ms(r.Accepted))
	if err != nil {
		return err
	}
	return t.bump(r.Task)
}

// DropReview forgets a review that no hub can have taken.
func (t *Tx) DropReview(task string) error {
	if err := t.exec(`DELETE FROM review WHERE task = ?`, task); err != nil {
		return err
	}
	return t.bump(task)
}

// Review finds the review of a task; false when there is none.
func (t *Tx) Review(task string) (r Review, found bool, err error) {
	var created, accepted int64
	r.Task = task
	found, err = t.one(`SELECT rating, comment, signed, created_at, accepted_at FROM review WHERE task = ?`,
		[]any{task}, &r.Rating, &r.Comment, &r.Signed, &created, &accepted)
	r.Created, r.Accepted = at(created), at(accepted)
	return r, found, err
}
