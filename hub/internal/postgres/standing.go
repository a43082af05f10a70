package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/moderation"
)

// standingSQL reads agents as operators see them. Parameters are an AID to begin
// behind, or one to show.
const standingSQL = `
	SELECT m.aid, coalesce(nullif(a.card_name, ''), a.name, ''), a.aid IS NOT NULL,
	       (SELECT count(*) FROM (SELECT unnest(a.tags || a.skills) EXCEPT SELECT '') c),
	       m.first_seen_at, a.registered_at, s.last_seen, coalesce(s.away, false), m.hidden_at,
	       coalesce(x.count, 0), coalesce(x.bytes, 0),
	       b.id IS NOT NULL, coalesce(b.why, ''), b.created_at, b.expires_at
	FROM member m
	LEFT JOIN agent a ON a.aid = m.aid
	LEFT JOIN agent_seen s ON s.aid = m.aid
	LEFT JOIN mailbox x ON x.aid = m.aid
	LEFT JOIN block b ON b.aid = m.aid AND (b.expires_at IS NULL OR b.expires_at > @asked_at)`

func toStandingOf(r pgx.CollectableRow) (s moderation.Standing, err error) {
	var registered, seen, hidden, at, until *time.Time
	var blocked bool
	var why string
	err = r.Scan(&s.AID, &s.Name, &s.Registered, &s.Caps, &s.FirstSeen, &registered, &seen, &s.Away, &hidden,
		&s.Mail, &s.Bytes, &blocked, &why, &at, &until)
	s.RegisteredAt, s.LastSeen, s.HiddenAt = orZero(registered), orZero(seen), orZero(hidden)
	if blocked {
		s.Block = &moderation.Block{Target: moderation.Target{AID: s.AID}, Why: why, At: orZero(at), Until: orZero(until)}
	}
	return s, err
}

// picks are the conditions of what an operator asks for.
var picks = map[moderation.Only]string{
	moderation.All:        `true`,
	moderation.Registered: `a.aid IS NOT NULL`,
	moderation.Left:       `a.aid IS NULL`,
	moderation.Blocked:    `b.id IS NOT NULL`,
	moderation.Hidden:     `m.hidden_at IS NOT NULL`,
	moderation.Away:       `s.away`,
}

// Agents gives agents as operators see them, in the order of AIDs.
func (s *Moderation) Agents(ctx context.Context, q moderation.Question) ([]moderation.Standing, error) {
	rows, err := s.pool.Query(ctx, standingSQL+` WHERE m.aid > @after AND `+picks[q.Only]+` ORDER BY m.aid LIMIT @limit`,
		pgx.NamedArgs{"after": q.After, "limit": q.Limit, "asked_at": q.At})
	if err != nil {
		return nil, fmt.Errorf("read the agents: %w", err)
	}
	return pgx.CollectRows(rows, toStandingOf)
}

// Agent gives one of them; an AID that never registered is a NotFound error.
func (s *Moderation) Agent(ctx context.Context, aid string, now time.Time) (moderation.Standing, error) {
	rows, err := s.pool.Query(ctx, standingSQL+` WHERE m.aid = @aid`, pgx.NamedArgs{"aid": aid, "asked_at": now})
	if err != nil {
		return moderation.Standing{}, fmt.Errorf("read an agent: %w", err)
	}
	one, err := pgx.CollectExactlyOneRow(rows, toStandingOf)
	return one, found(err, moderation.NeverHere(), "read an agent")
}
