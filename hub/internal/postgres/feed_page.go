package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/feed"
)

// cardSpanSQL adds up the bytes of a page before any of them is read. The first
// entry counts whatever its size: a page without it would be asked for ever.
const cardSpanSQL = `
	WITH k AS MATERIALIZED (
		SELECT fed_seq, size FROM feed WHERE stream = @stream AND fed_seq > @after ORDER BY fed_seq LIMIT @n),
	sums AS (SELECT fed_seq, row_number() OVER w AS i, sum(size) OVER w AS bytes FROM k WINDOW w AS (ORDER BY fed_seq))
	SELECT coalesce(max(fed_seq), @after), coalesce(max(bytes), 0)::bigint FROM sums WHERE i = 1 OR bytes <= @most`

// Span implements feed.Store.
func (s *Feed) Span(ctx context.Context, stream feed.Stream, after int64) (span feed.Span, err error) {
	sql, limits := cardSpanSQL, stream.Limits()
	if stream == feed.Reviews {
		sql = reviewSpanSQL
	}
	err = s.pool.QueryRow(ctx, sql, pgx.NamedArgs{
		"stream": stream, "after": after, "n": limits.Entries, "most": limits.Bytes,
		"until": int64(math.MaxInt64), "look": reviewStep}).
		Scan(&span.Until, &span.Bytes)
	return span, found(err, nil, "find a page for a peer")
}

// cardsToldSQL looks at each agent by its key. Of one that may not be told of,
// nothing is read.
const cardsToldSQL = `
	WITH next AS MATERIALIZED (
		SELECT * FROM feed WHERE stream = @stream AND fed_seq > @after ORDER BY fed_seq LIMIT @n),
	k AS MATERIALIZED (
		SELECT *, withdrawn = '' AND
		       coalesce((SELECT ` + tellable + ` FROM agent a WHERE a.aid = next.aid), false) AS told
		FROM next WHERE fed_seq <= @until)
	SELECT fed_seq, aid, withdrawn, at,
	       CASE WHEN told THEN (%s) END,
	       CASE WHEN told THEN (SELECT kel FROM member m WHERE m.aid = k.aid) END,
	       CASE WHEN told THEN (SELECT keyset FROM agent_keyset s WHERE s.aid = k.aid) END
	FROM k ORDER BY fed_seq`

var cardsTold = map[feed.Stream]string{
	feed.OlderCards: fmt.Sprintf(cardsToldSQL, `SELECT card FROM agent_adp_card c WHERE c.aid = k.aid`),
	feed.Cards:      fmt.Sprintf(cardsToldSQL, `SELECT card FROM agent_card c WHERE c.aid = k.aid`),
}

// Cards implements feed.Store.
func (s *Feed) Cards(ctx context.Context, stream feed.Stream, after int64, span feed.Span) ([]feed.Entry, int64, error) {
	rows, err := s.pool.Query(ctx, cardsTold[stream], pgx.NamedArgs{
		"stream": stream, "after": after, "until": span.Until, "n": stream.Limits().Entries})
	read, cut, err := readUpTo(nil, rows, err, int(span.Bytes), func(r pgx.Rows) (e feed.Entry, size int, err error) {
		err = r.Scan(&e.Seq, &e.AID, &e.Withdrawn, &e.At, &e.Card, &e.KEL, &e.Keyset)
		return e, len(e.Card) + len(e.KEL) + len(e.Keyset), err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read a page for a peer: %w", err)
	}
	if cut {
		span.Until = read[len(read)-1].Seq
	}
	return read, span.Until, nil
}

// reviewStep is how many reviews one page looks at: where most are about agents
// that peers may not learn of, it moves on with few entries or none.
const reviewStep = 400

// toldReviews are the next reviews between two agents that peers may learn of. The
// subject may be one that this hub learned of from a peer, while that tells of it.
const toldReviews = `
	look AS MATERIALIZED (
		SELECT seq, subject, reviewer FROM review WHERE seq > @after AND seq <= @until ORDER BY seq LIMIT @look),
	told AS MATERIALIZED (
		SELECT * FROM look
		WHERE coalesce((SELECT ` + tellable + ` FROM agent a WHERE a.aid = look.reviewer), false)
		  AND coalesce((SELECT ` + tellable + ` FROM agent a WHERE a.aid = look.subject),
		               (SELECT true FROM learned l WHERE l.aid = look.subject AND l.shown), false))`

// subjectKEL is the longest history known of a subject: a review is good under it,
// if under any.
const subjectKEL = `(
	SELECT kel FROM (
		SELECT kel FROM member m WHERE m.aid = told.subject UNION ALL
		SELECT kel FROM known_elsewhere e WHERE e.aid = told.subject) AS k
	ORDER BY octet_length(kel) DESC LIMIT 1)`

// reviewSpanSQL moves past reviews that are not told, as far as it looked, unless
// one that is told has no room.
const (
	reviewSpanSQL = `
		WITH ` + toldReviews + `,
		sized AS MATERIALIZED (
			SELECT seq, 512 + 4 * (
				(SELECT octet_length(receipt) + octet_length(review) FROM review r WHERE r.seq = told.seq) +
				octet_length(` + subjectKEL + `) +
				(SELECT octet_length(kel) FROM member m WHERE m.aid = told.reviewer)) / 3 AS size
			FROM told ORDER BY seq LIMIT @n),
		sums AS (SELECT seq, row_number() OVER w AS i, sum(size) OVER w AS bytes FROM sized WINDOW w AS (ORDER BY seq)),
		page AS (SELECT count(*) AS n, max(seq) AS last, max(bytes) AS bytes FROM sums WHERE i = 1 OR bytes <= @most)
		SELECT coalesce(CASE WHEN n < (SELECT count(*) FROM told) THEN last ELSE (SELECT max(seq) FROM look) END, @after),
		       coalesce(bytes, 0)::bigint
		FROM page`

	reviewsToldSQL = `
		WITH ` + toldReviews + `
		SELECT seq, receipt, review,
		       ` + subjectKEL + `,
		       (SELECT kel FROM member m WHERE m.aid = told.reviewer)
		FROM told CROSS JOIN LATERAL (SELECT receipt, review FROM review r WHERE r.seq = told.seq OFFSET 0) AS r
		ORDER BY seq`
)

// Reviews implements feed.Store.
func (s *Feed) Reviews(ctx context.Context, after int64, span feed.Span) ([]feed.Review, int64, error) {
	rows, err := s.pool.Query(ctx, reviewsToldSQL, pgx.NamedArgs{"after": after, "until": span.Until, "look": reviewStep})
	read, cut, err := readUpTo(nil, rows, err, int(span.Bytes), func(r pgx.Rows) (v feed.Review, size int, err error) {
		err = r.Scan(&v.Seq, &v.Receipt, &v.Word, &v.ProviderKEL, &v.ReviewerKEL)
		return v, len(v.Receipt) + len(v.Word) + len(v.ProviderKEL) + len(v.ReviewerKEL), err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read a page of reviews for a peer: %w", err)
	}
	if cut {
		span.Until = read[len(read)-1].Seq
	}
	return read, span.Until, nil
}
