package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// agentColumns are what toAgent reads.
const agentColumns = `a.aid, a.name, a.tags, a.card_name, a.skills, a.summary, a.readme, a.pricing,
	a.visibility, a.registered_at, a.rating_sum, a.rating_count,
	EXISTS (SELECT FROM block b WHERE b.aid = a.aid), (SELECT hidden_at IS NOT NULL FROM member m WHERE m.aid = a.aid),
	coalesce((SELECT away FROM agent_seen s WHERE s.aid = a.aid), false)`

// toAgent reads agentColumns, and more behind them.
func toAgent(r pgx.Row, more ...any) (a directory.Agent, err error) {
	err = r.Scan(append([]any{&a.AID, &a.Name, &a.Tags, &a.Card.Name, &a.Card.Skills,
		&a.Profile.Summary, &a.Profile.Readme, &a.Profile.Pricing,
		&a.Visibility, &a.RegisteredAt, &a.Rating.Sum, &a.Rating.Count, &a.Blocked, &a.Hidden, &a.Away}, more...)...)
	return a, err
}

// upsertAgentSQL writes a registration as a whole; what is derived from it is
// written with it.
const upsertAgentSQL = `
	INSERT INTO agent (aid, name, tags, card_name, skills, summary, readme, pricing, visibility,
		registered_at, rating_sum, rating_count, rank_rating, rank_reviews, shown, listed, view, search,
		body_hash, body_until, answered)
	VALUES (@aid, @name, @tags, @card_name, @skills, @summary, @readme, @pricing, @visibility,
		@registered_at, @rating_sum, @rating_count, @rank_rating, @rank_reviews, @shown, @listed, @view, @search,
		@body_hash, @body_until, @answered)
	ON CONFLICT (aid) DO UPDATE SET
		name = EXCLUDED.name, tags = EXCLUDED.tags, card_name = EXCLUDED.card_name, skills = EXCLUDED.skills,
		summary = EXCLUDED.summary, readme = EXCLUDED.readme, pricing = EXCLUDED.pricing,
		visibility = EXCLUDED.visibility, rating_sum = EXCLUDED.rating_sum, rating_count = EXCLUDED.rating_count,
		rank_rating = EXCLUDED.rank_rating, rank_reviews = EXCLUDED.rank_reviews,
		shown = EXCLUDED.shown, listed = EXCLUDED.listed, view = EXCLUDED.view, search = EXCLUDED.search,
		body_hash = EXCLUDED.body_hash, body_until = EXCLUDED.body_until, answered = EXCLUDED.answered`

func agentArgs(a directory.Agent) (pgx.NamedArgs, error) {
	view, err := a.Rendered()
	place := a.Place()
	return pgx.NamedArgs{
		"aid": a.AID, "name": a.Name, "tags": list(a.Tags),
		"card_name": a.Card.Name, "skills": list(a.Card.Skills),
		"summary": a.Profile.Summary, "readme": a.Profile.Readme, "pricing": a.Profile.Pricing,
		"visibility": a.Visibility, "registered_at": a.RegisteredAt,
		"rating_sum": a.Rating.Sum, "rating_count": a.Rating.Count,
		"rank_rating": place.Rating, "rank_reviews": place.Reviews,
		"shown": a.Shown(), "listed": a.InLists(), "view": view, "search": a.Search(),
		"body_hash": nil, "body_until": nil, "answered": nil,
	}, err
}

// list is never NULL.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// orNull stores the zero time as NULL.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orZero reads NULL as the zero time.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
