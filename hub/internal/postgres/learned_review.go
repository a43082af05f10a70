package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/reviews"
)

// reviewsPerAgent bounds what a peer may tell of reviews.
const reviewsPerAgent = 10

// LearnReviews implements learned.Store. The reviews of a page that has no room
// are passed: the next reading from the beginning tells them again.
func (s *Learned) LearnReviews(ctx context.Context, j learned.Job, l learned.ReviewLesson, now time.Time) (news bool, err error) {
	c, err := toReviewColumns(l.Take)
	if err != nil {
		return false, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := hold(ctx, tx, j, now); err != nil {
			return err
		}
		room, err := s.room(ctx, tx, j)
		if err != nil {
			return err
		}
		if room.Bytes < c.bytes() {
			l.Refused, l.Refusal, c = l.Refused+len(l.Take), "the peer takes up as much room as one may", reviewColumns{}
		}
		if err := countReviews(ctx, tx, j.Peer, `reviews IS NULL`); err != nil {
			return err
		}
		args := c.args(jobArgs(j, now))
		args["most"] = reviewsPerAgent * s.quota.Agents
		var taken int64
		if err := tx.QueryRow(ctx, takeReviewsSQL, args).Scan(&taken); err != nil {
			return err
		}
		news = taken > 0
		var b pgx.Batch
		queueRead(&b, l.ReadTo, l.Refused, l.Refusal, args)
		return tx.SendBatch(ctx, &b).Close()
	})
	return news, found(err, nil, "learn reviews from a peer")
}

// countReviews counts what a peer taught of reviews, where that is not known. Who
// calls it keeps others from teaching meanwhile.
func countReviews(ctx context.Context, tx pgx.Tx, peer int64, where string) error {
	_, err := tx.Exec(ctx, `
		UPDATE teacher SET reviews = (SELECT count(*) FROM learned_review WHERE peer_id = @peer)
		WHERE peer_id = @peer AND `+where, pgx.NamedArgs{"peer": peer})
	return found(err, nil, "count the reviews of a peer")
}

// takeReviewsSQL stores what is new; a review that is known is as it was.
const takeReviewsSQL = `
	WITH told AS (
		SELECT * FROM unnest(@subjects::text[], @interactions::text[], @reviewers::text[], @ratings::smallint[],
			@receipts::bytea[], @words::bytea[], @fed_seqs::bigint[], @sizes::int[])
			AS t (subject, interaction, reviewer, rating, receipt, review, fed_seq, size)),
	known AS (
		UPDATE learned_review r SET told = @pass, fed_seq = t.fed_seq FROM told t
		WHERE r.peer_id = @peer AND (r.subject, r.interaction, r.reviewer) = (t.subject, t.interaction, t.reviewer)
		  AND (r.told, r.fed_seq) IS DISTINCT FROM (@pass, t.fed_seq)),
	taken AS (
		INSERT INTO learned_review (subject, interaction, reviewer, peer_id, rating, receipt, review, fed_seq, told, size)
		SELECT subject, interaction, reviewer, @peer, rating, receipt, review, fed_seq, @pass, size FROM told
		WHERE (SELECT reviews FROM teacher WHERE peer_id = @peer) < @most
		ON CONFLICT DO NOTHING RETURNING size),
	counted AS (
		UPDATE teacher SET bytes = bytes + sizes, reviews = reviews + n FROM (SELECT count(*) AS n, sum(size) AS sizes FROM taken) AS g
		WHERE peer_id = @peer AND n > 0)
	SELECT count(*) FROM taken`

// reviewColumns are rows of learned_review, turned.
type reviewColumns struct {
	subjects, interactions, reviewers []string
	ratings                           []int16
	receipts, words                   [][]byte
	fedSeqs                           []int64
	sizes                             []int32
}

func toReviewColumns(list []learned.Review) (c reviewColumns, err error) {
	for _, r := range list {
		receipt, word, err := r.Encode()
		if err != nil {
			return c, err
		}
		c.subjects, c.interactions = append(c.subjects, r.Word.Subject), append(c.interactions, r.Word.Interaction)
		c.reviewers, c.ratings = append(c.reviewers, r.Word.Reviewer), append(c.ratings, int16(r.Word.Rating))
		c.receipts, c.words = append(c.receipts, receipt), append(c.words, word)
		c.fedSeqs, c.sizes = append(c.fedSeqs, r.FedSeq), append(c.sizes, int32(len(receipt)+len(word)))
	}
	return c, nil
}

func (c reviewColumns) bytes() (n int64) {
	for _, size := range c.sizes {
		n += int64(size)
	}
	return n
}

func (c reviewColumns) args(more pgx.NamedArgs) pgx.NamedArgs {
	for name, v := range map[string]any{
		"subjects": list(c.subjects), "interactions": list(c.interactions), "reviewers": list(c.reviewers), "ratings": c.ratings,
		"receipts": c.receipts, "words": c.words, "fed_seqs": c.fedSeqs, "sizes": c.sizes,
	} {
		more[name] = v
	}
	return more
}

// peerRatingsSQL sums up what reviews that peers took in say of an agent. One that
// was taken in here, too, or at an earlier peer, counts there.
const peerRatingsSQL = `
	SELECT p.endpoint, sum(one.rating), count(*) FROM (
		SELECT DISTINCT ON (interaction, reviewer) peer_id, rating FROM learned_review l
		WHERE subject = @aid AND NOT EXISTS (
			SELECT FROM review r WHERE (r.interaction, r.subject, r.reviewer) = (l.interaction, l.subject, l.reviewer))
		ORDER BY interaction, reviewer, peer_id) AS one
	JOIN peer p ON p.id = one.peer_id JOIN teacher t ON t.peer_id = p.id AND t.listed
	GROUP BY p.id ORDER BY p.position, p.id`

// Elsewhere implements reviews.Store.
func (s *Reviews) Elsewhere(ctx context.Context, aid string) ([]reviews.Peer, error) {
	rows, err := s.pool.Query(ctx, peerRatingsSQL, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return nil, fmt.Errorf("read what peers' reviews say: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (p reviews.Peer, err error) {
		err = r.Scan(&p.Hub, &p.Rating.Sum, &p.Rating.Count)
		return p, err
	})
}
