package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/card"
)

// agents compares the index that look-ups answer from with what would be written
// into it now. Views are left alone: another version may render them another way.
func (i *Integrity) agents(ctx context.Context) (wrong []string, err error) {
	rows, err := i.pool.Query(ctx, `
		SELECT `+agentColumns+`, a.listed, a.rank_rating, a.rank_reviews,
			ARRAY(SELECT cap || CASE WHEN skill THEN ' skill' ELSE '' END FROM agent_cap c
				WHERE c.aid = a.aid AND (c.rank_rating, c.rank_reviews, c.registered_at) = (a.rank_rating, a.rank_reviews, a.registered_at)),
			(SELECT count(*) FROM agent_cap c WHERE c.aid = a.aid)
		FROM agent a`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() && len(wrong) < maxFindings {
		aid, what, err := misrendered(rows)
		if err != nil {
			return nil, err
		}
		if what != "" {
			wrong = append(wrong, fmt.Sprintf("%s of agent %s is not what follows from its registration", what, aid))
		}
	}
	return wrong, rows.Err()
}

// misrendered names what of an agent's row does not follow from the rest of it.
func misrendered(r pgx.Row) (aid, what string, err error) {
	var listed bool
	var rating, reviews int32
	var caps []string
	var n int
	a, err := toAgent(r, &listed, &rating, &reviews, &caps, &n)
	if err != nil {
		return "", "", err
	}
	written, err := agentArgs(a)
	place := a.Place()
	slices.Sort(caps)
	switch {
	case listed != written["listed"]:
		what = "whether it is listed"
	case rating != place.Rating || reviews != place.Reviews:
		what = "the rank"
	case n != len(caps) || !slices.Equal(caps, capTexts(a)):
		what = "the capability index"
	}
	return a.AID, what, err
}

// capTexts are the rows of agent_cap as agents reads them.
func capTexts(a directory.Agent) (texts []string) {
	for _, c := range indexed(a) {
		if a.IsSkill(c) {
			c += " skill"
		}
		texts = append(texts, c)
	}
	if len(texts) > 0 {
		texts = append(texts, "")
	}
	slices.Sort(texts)
	return texts
}

// cards holds every card to the mark of the highest one ever admitted.
func (i *Integrity) cards(ctx context.Context) (wrong []string, err error) {
	rows, err := i.pool.Query(ctx, `SELECT aid, card, card_seq, card_hash FROM agent_card JOIN member USING (aid)`)
	if err != nil {
		return nil, err
	}
	var aid string
	var raw, hash []byte
	var seq *int64
	_, err = pgx.ForEachRow(rows, []any{&aid, &raw, &seq, &hash}, func() error {
		if what := mismarked(raw, toMark(seq, hash)); what != "" && len(wrong) < maxFindings {
			wrong = append(wrong, fmt.Sprintf("the card of agent %s %s", aid, what))
		}
		return nil
	})
	return wrong, err
}

func mismarked(raw []byte, mark *card.Mark) string {
	s, err := card.Read(raw)
	switch {
	case err != nil:
		return "cannot be read: " + err.Error()
	case mark == nil:
		return "has no mark on record"
	case s.Mark() != *mark:
		return fmt.Sprintf("is number %d, and the highest on record is %d", s.Seq, mark.Seq)
	}
	return ""
}
