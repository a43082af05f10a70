package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/errs"
)

// Reviews keeps reviews (reviews.Store). A review changes its subject's place in
// lists, so it locks the subject's member row first, like a registration.
type Reviews struct{ pool *pgxpool.Pool }

// NewReviews makes the store.
func NewReviews(pool *pgxpool.Pool) *Reviews { return &Reviews{pool: pool} }

const reviewedSQL = `
	SELECT EXISTS (SELECT FROM review
		WHERE interaction = @interaction AND subject = @subject AND reviewer = @reviewer)`

func reviewKey(r reviews.Review) pgx.NamedArgs {
	return pgx.NamedArgs{"interaction": r.Word.Interaction, "subject": r.Word.Subject, "reviewer": r.Word.Reviewer}
}

// Reviewed implements reviews.Store.
func (s *Reviews) Reviewed(ctx context.Context, r reviews.Review) (is bool, err error) {
	err = s.pool.QueryRow(ctx, reviewedSQL, reviewKey(r)).Scan(&is)
	return is, found(err, nil, "look for a review")
}

// insertReviewSQL comes last: it locks the row that all reviews count on, until
// the commit. A race for the same review is settled by its key.
const insertReviewSQL = `
	WITH next AS (
		UPDATE review_total SET seq = seq + 1, reviews = reviews + 1, rating_sum = rating_sum + @rating
		RETURNING seq)
	INSERT INTO review (interaction, subject, reviewer, seq, rating, receipt, review, accepted_at)
	SELECT @interaction, @subject, @reviewer, seq, @rating, @receipt, @review, @now FROM next
	ON CONFLICT ON CONSTRAINT review_pk DO NOTHING`

// Put implements reviews.Store.
func (s *Reviews) Put(ctx context.Context, r reviews.Review, now time.Time) error {
	args := reviewKey(r)
	args["rating"], args["now"] = int64(r.Word.Rating), now
	var err error
	if args["receipt"], args["review"], err = r.Encode(); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		reviewer := moderation.Visitor{AID: r.Word.Reviewer, At: now}
		if err := refusal(tx.QueryRow(ctx, blockedSQL, visitorArgs(reviewer))); err != nil {
			return err
		}
		if err := rate(ctx, tx, r.Word.Subject, int64(r.Word.Rating)); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, insertReviewSQL, args)
		if err == nil && tag.RowsAffected() == 0 {
			err = errs.New(errs.Conflict, "review_conflict", "another request was faster with a review of this interaction").In("review")
		}
		return found(err, nil, "store a review")
	})
}

// rate adds a rating, under the lock of the AID, to what is said of an agent and moves it to the place that
// goes with it, in all lists. Who has left has no place until it comes back.
func rate(ctx context.Context, tx pgx.Tx, aid string, rating int64) error {
	if err := lockAIDs(ctx, tx, []string{aid}); err != nil {
		return err
	}
	a, err := lockAgent(ctx, tx, aid)
	left := errs.KindOf(err) == errs.NotFound
	if err != nil && !left {
		return err
	}
	args := pgx.NamedArgs{"aid": aid, "rating": rating}
	err = tx.QueryRow(ctx, `
		UPDATE member SET rating_sum = rating_sum + @rating, rating_count = rating_count + 1
		WHERE aid = @aid RETURNING rating_sum, rating_count`, args).Scan(&a.Rating.Sum, &a.Rating.Count)
	switch {
	case left && (err == nil || errors.Is(err, pgx.ErrNoRows)):
		return rateElsewhere(ctx, tx, aid, rating, err == nil)
	case err != nil:
		return found(err, errAgentUnknown(), "rate a member")
	}
	return replace(ctx, tx, a)
}

// rateElsewhere does it for an agent that is not registered here, if a peer told of
// it. What is said of one that never was a member stands beside its history.
func rateElsewhere(ctx context.Context, tx pgx.Tx, aid string, rating int64, member bool) error {
	if !member {
		tag, err := tx.Exec(ctx, `
			UPDATE known_elsewhere SET rating_sum = rating_sum + @rating, rating_count = rating_count + 1
			WHERE aid = @aid`, pgx.NamedArgs{"aid": aid, "rating": rating})
		if err == nil && tag.RowsAffected() == 0 {
			err = errAgentUnknown()
		}
		if err != nil {
			return fmt.Errorf("rate an agent of another hub: %w", err)
		}
	}
	return replaceElsewhere(ctx, tx, aid)
}

// replaceElsewhere writes what is said of an agent of another hub into all that was
// taught of it.
func replaceElsewhere(ctx context.Context, tx pgx.Tx, aid string) error {
	rows, err := tx.Query(ctx, `
		SELECT `+elsewhereColumns+`, l.peer_id, l.stream, coalesce(m.rating_sum, k.rating_sum), coalesce(m.rating_count, k.rating_count)
		FROM learned l JOIN known_elsewhere k ON k.aid = l.aid LEFT JOIN member m ON m.aid = l.aid
		WHERE l.aid = @aid`, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return fmt.Errorf("read what was taught: %w", err)
	}
	var b pgx.Batch
	for rows.Next() {
		var peer int64
		var stream string
		var r directory.Rating
		e, err := toElsewhere(rows, &peer, &stream, &r.Sum, &r.Count)
		if err != nil {
			rows.Close()
			return fmt.Errorf("read what was taught: %w", err)
		}
		e.Rating = r
		if err := queueRated(&b, e, peer, stream); err != nil {
			rows.Close()
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read what was taught: %w", err)
	}
	queueChange(&b, []string{aid}, func() {})
	return found(tx.SendBatch(ctx, &b).Close(), nil, "move a reviewed agent")
}

func queueRated(b *pgx.Batch, e directory.Elsewhere, peer int64, stream string) error {
	view, err := e.Rendered()
	place := e.Place()
	b.Queue(`
		UPDATE learned SET rating_sum = @sum, rating_count = @count, rank_rating = @rating, rank_reviews = @reviews, view = @view
		WHERE aid = @aid AND peer_id = @peer AND stream = @stream`, pgx.NamedArgs{
		"aid": e.AID, "peer": peer, "stream": stream, "sum": e.Rating.Sum, "count": e.Rating.Count,
		"rating": place.Rating, "reviews": place.Reviews, "view": view})
	return err
}

// replace writes a rating that changed into everything that is ordered by it.
// The agent's registration stays as it is, and may be repeated.
func replace(ctx context.Context, tx pgx.Tx, a directory.Agent) error {
	args, err := agentArgs(a)
	if err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue(`
		UPDATE agent SET rating_sum = @rating_sum, rating_count = @rating_count,
			rank_rating = @rank_rating, rank_reviews = @rank_reviews, view = @view
		WHERE aid = @aid`, args)
	b.Queue(`UPDATE agent_cap SET rank_rating = @rank_rating, rank_reviews = @rank_reviews WHERE aid = @aid`, args)
	return found(tx.SendBatch(ctx, &b).Close(), nil, "move a reviewed agent")
}
