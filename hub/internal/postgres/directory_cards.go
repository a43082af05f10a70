package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// The AIDs to look at, in their order, come from the narrowest index that the
// question allows; cardsSQL then looks at each. Its conditions are scalar
// subqueries, since EXISTS may be answered by hashing a whole table.
const (
	cardsBySkillSQL = `SELECT aid FROM agent_cap WHERE skill AND cap = @skill AND aid > @after ORDER BY aid LIMIT @n`
	cardsByTagSQL   = `SELECT aid FROM agent_card_tag WHERE tag = @tag AND aid > @after ORDER BY aid LIMIT @n`
	allCardsSQL     = `
	(SELECT aid FROM agent_card WHERE aid > @after ORDER BY aid LIMIT @n)
	UNION ALL
	(SELECT aid FROM learned WHERE shown AND stream = 'cards' AND aid > @after ORDER BY aid LIMIT @n)
	ORDER BY aid LIMIT @n`

	// taughtCard is the row of an agent of another hub, where lists show its card.
	taughtCard = `FROM learned l WHERE l.aid = %s.aid AND l.shown AND l.stream = 'cards'`
)

var cardsSQL = `
	, step AS MATERIALIZED (
		SELECT aid, row_number() OVER () AS i, count(*) OVER () AS looked FROM k),
	place AS MATERIALIZED (
		SELECT aid, i, looked,
		       coalesce((SELECT shown FROM agent a WHERE a.aid = step.aid), (SELECT true ` + fmt.Sprintf(taughtCard, "step") + `)) AND
		       (@tag = '' OR (SELECT true FROM agent_card_tag t WHERE t.tag = @tag AND t.aid = step.aid)) AND
		       (@text = '' OR coalesce(
			(SELECT strpos(search, @text) > 0 FROM agent_card c WHERE c.aid = step.aid),
			(SELECT strpos(card_search, @text) > 0 ` + fmt.Sprintf(taughtCard, "step") + `))) IS TRUE AS answers
		FROM step)
	SELECT p.aid, p.looked, CASE WHEN p.answers THEN c.card END, c.verified_at,
	       c.rating_sum, c.rating_count, c.registered_at,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid), c.home
	FROM place p
	CROSS JOIN LATERAL (
		(SELECT card, verified_at, rating_sum, rating_count, registered_at, '' AS home
		 FROM agent_card c JOIN agent a ON a.aid = c.aid WHERE c.aid = p.aid)
		UNION ALL
		(SELECT card, verified_at, rating_sum, rating_count, taught_at, home ` + fmt.Sprintf(taughtCard, "p") + `) LIMIT 1) AS c
	WHERE p.answers OR p.i = p.looked
	ORDER BY p.i`

// Cards implements directory.Reads.
func (s *Directory) Cards(ctx context.Context, q directory.CardQuestion, after string, n, most int) (directory.CardStep, error) {
	from := allCardsSQL
	switch {
	case q.Skill != "":
		from = cardsBySkillSQL
	case q.Tag != "":
		from = cardsByTagSQL
	}
	rows, err := s.pool.Query(ctx, `WITH k AS (`+from+`)`+cardsSQL, pgx.NamedArgs{
		"skill": q.Skill, "tag": q.Tag, "text": q.Text, "after": after, "n": n})
	var st directory.CardStep
	read, cut, err := readUpTo(nil, rows, err, most, func(r pgx.Rows) (directory.CardRow, int, error) {
		return toCardRow(r, &st.Looked)
	})
	if err != nil {
		return directory.CardStep{}, fmt.Errorf("read the cards: %w", err)
	}
	if st.Rows = read; cut {
		st.Looked = n
	}
	return st, nil
}

func toCardRow(r pgx.Rows, looked *int) (row directory.CardRow, size int, err error) {
	var seen *time.Time
	err = r.Scan(&row.AID, looked, &row.Card, &row.VerifiedAt,
		&row.Rating.Sum, &row.Rating.Count, &row.Life.RegisteredAt, &seen, &row.Home)
	row.Life.LastSeen = orZero(seen)
	return row, len(row.Card), err
}
