package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

// integrityHistories bounds histories in memory while reviews are looked at: an agent may have many.
const integrityHistories = 16 << 20

// reviews verifies every review once more, and that lists count what it says.
func (i *Integrity) reviews(ctx context.Context) (wrong []string, err error) {
	rows, err := i.pool.Query(ctx, `
		SELECT v.seq, v.interaction, v.subject, v.reviewer, v.rating, v.receipt, v.review, coalesce(s.kel, k.kel), r.kel
		FROM review v LEFT JOIN member s ON s.aid = v.subject LEFT JOIN member r ON r.aid = v.reviewer
		LEFT JOIN known_elsewhere k ON k.aid = v.subject`)
	if err != nil {
		return nil, err
	}
	replay := identity.NewCache(integrityHistories).Replay
	var k storedReview
	_, err = pgx.ForEachRow(rows, []any{&k.seq, &k.interaction, &k.subject, &k.reviewer, &k.rating,
		&k.receipt, &k.word, &k.subjectKEL, &k.reviewerKEL}, func() error {
		if err := k.verify(replay); err != nil && len(wrong) < maxFindings {
			wrong = append(wrong, fmt.Sprintf("review %d does not hold: %v", k.seq, err))
		}
		return nil
	})
	return wrong, err
}

// storedReview is a row with the key histories of both parties.
type storedReview struct {
	seq                            int64
	interaction, subject, reviewer string
	rating                         int
	receipt, word                  []byte
	subjectKEL, reviewerKEL        []byte
}

func (k storedReview) verify(replay func([]byte) (*identity.History, error)) error {
	r, err := reviews.Parse(k.receipt, k.word)
	if err != nil {
		return err
	}
	if w := r.Word; w.Interaction != k.interaction || w.Subject != k.subject || w.Reviewer != k.reviewer || int(w.Rating) != k.rating {
		return errors.New("it is filed as another one")
	}
	subject, err := replay(k.subjectKEL)
	if err != nil {
		return fmt.Errorf("its subject: %w", err)
	}
	reviewer, err := replay(k.reviewerKEL)
	if err != nil {
		return fmt.Errorf("its reviewer: %w", err)
	}
	return evidence.Interlock(r.Receipt, r.Word, subject, reviewer)
}
