package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/errs"
)

// SignerKEL gives the key history of a registered agent that may act.
func (s *Directory) SignerKEL(ctx context.Context, v moderation.Visitor) (kel []byte, err error) {
	var b pgx.Batch
	args := visitorArgs(v)
	b.Queue(blockedSQL, args)
	b.Queue(`SELECT m.kel FROM agent a JOIN member m ON m.aid = a.aid WHERE a.aid = @signer`, args)
	answers := s.pool.SendBatch(ctx, &b)
	defer func() { err = errors.Join(err, answers.Close()) }()
	if err := refusal(answers.QueryRow()); err != nil {
		return nil, err
	}
	err = answers.QueryRow().Scan(&kel)
	return kel, found(err, errAgentUnknown(), "read a key history")
}

// KnownKEL implements reviews.Agents: members are known for good, and so is who a
// peer told of. Of two histories the longer counts.
func (s *Directory) KnownKEL(ctx context.Context, aid string) (kel []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT kel FROM (
			SELECT kel FROM member WHERE aid = @aid UNION ALL
			SELECT kel FROM known_elsewhere WHERE aid = @aid) AS k
		ORDER BY octet_length(kel) DESC LIMIT 1`, pgx.NamedArgs{"aid": aid}).Scan(&kel)
	return kel, found(err, errAgentUnknown(), "read a key history")
}

// Member implements directory.Reads.
func (s *Directory) Member(ctx context.Context, aid string) (m directory.Member, registered bool, err error) {
	var seq *int64
	var hash []byte
	err = s.pool.QueryRow(ctx, `
		SELECT kel, first_seen_at, card_seq, card_hash, rating_sum, rating_count, hidden_at IS NOT NULL, EXISTS (SELECT FROM agent a WHERE a.aid = m.aid)
		FROM member m WHERE aid = @aid`, pgx.NamedArgs{"aid": aid}).Scan(
		&m.KEL, &m.FirstSeen, &seq, &hash, &m.Rating.Sum, &m.Rating.Count, &m.Hidden, &registered)
	m.CardMark = toMark(seq, hash)
	return m, registered, found(err, errAgentUnknown(), "read a member")
}

// Agent implements directory.Reads.
func (s *Directory) Agent(ctx context.Context, aid string) (directory.Agent, directory.Life, error) {
	var seen *time.Time
	a, err := toAgent(s.pool.QueryRow(ctx, `
		SELECT `+agentColumns+`, (SELECT last_seen FROM agent_seen s WHERE s.aid = a.aid)
		FROM agent a WHERE a.aid = @aid`, pgx.NamedArgs{"aid": aid}), &seen)
	life := directory.Life{RegisteredAt: a.RegisteredAt, LastSeen: orZero(seen)}
	return a, life, found(err, errAgentUnknown(), "read an agent")
}

// Keys implements directory.Reads.
func (s *Directory) Keys(ctx context.Context, aid string) (keyset, kel []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT k.keyset, m.kel FROM agent_keyset k JOIN member m ON m.aid = k.aid WHERE k.aid = @aid`,
		pgx.NamedArgs{"aid": aid}).Scan(&keyset, &kel)
	return keyset, kel, found(err, directory.KeysUnknown(), "read a key set")
}

func errNoCard() error {
	return errs.New(errs.NotFound, "card_unknown", "this agent has no such card here")
}

// ADPCard implements directory.Reads: of an agent registered here, or else of one
// of another hub that lists show.
func (s *Directory) ADPCard(ctx context.Context, aid string) (raw []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		(SELECT card FROM agent_adp_card WHERE aid = @aid)
		UNION ALL
		(SELECT card FROM learned l WHERE aid = @aid AND stream = 'adp-cards' AND NOT stale AND `+shownElsewhere+`
		 ORDER BY seq DESC, taught_at LIMIT 1)
		LIMIT 1`, pgx.NamedArgs{"aid": aid}).Scan(&raw)
	return raw, found(err, errNoCard(), "read a card")
}

// Card implements directory.Reads, like ADPCard.
func (s *Directory) Card(ctx context.Context, aid string) (raw []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		(SELECT card FROM agent_card WHERE aid = @aid)
		UNION ALL
		(SELECT card FROM learned WHERE aid = @aid AND shown AND stream = 'cards')
		LIMIT 1`, pgx.NamedArgs{"aid": aid}).Scan(&raw)
	return raw, found(err, errNoCard(), "read a card")
}

// Address implements directory.Reads.
func (s *Directory) Address(ctx context.Context, aid string) (directory.Address, error) {
	a := directory.Address{AID: aid}
	err := s.pool.QueryRow(ctx, `SELECT addr, at FROM agent_address WHERE aid = @aid`,
		pgx.NamedArgs{"aid": aid}).Scan(&a.Addr, &a.At)
	return a, found(err, errs.New(errs.NotFound, "address_unknown", "this agent publishes no address"), "read an address")
}

// Addresses implements directory.Reads: of agents that lists show.
func (s *Directory) Addresses(ctx context.Context, after string, n int) ([]directory.Address, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT aid, addr, at FROM agent_address d
		WHERE aid > @after AND (SELECT shown FROM agent a WHERE a.aid = d.aid)
		ORDER BY aid LIMIT @n`,
		pgx.NamedArgs{"after": after, "n": n})
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[directory.Address])
}

// Counts implements directory.Reads.
func (s *Directory) Counts(ctx context.Context) (map[string]int64, error) {
	counts := map[string]int64{}
	rows, err := s.pool.Query(ctx, `SELECT name, sum(n)::bigint FROM directory_count GROUP BY name`)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { counts[name] = n; return nil })
	return counts, err
}
