package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/card"
)

// Standing implements directory.Store.
func (s *Directory) Standing(ctx context.Context, v moderation.Visitor) (st directory.Standing, err error) {
	var b pgx.Batch
	args := visitorArgs(v)
	b.Queue(blockedSQL, args)
	b.Queue(`
		SELECT m.kel, a.body_hash, a.body_until, a.answered
		FROM agent a JOIN member m ON m.aid = a.aid WHERE a.aid = @signer`, args)
	answers := s.pool.SendBatch(ctx, &b)
	defer func() { err = errors.Join(err, answers.Close()) }()
	if err := refusal(answers.QueryRow()); err != nil {
		return st, err
	}
	return toStanding(answers.QueryRow())
}

func toStanding(r pgx.Row) (st directory.Standing, err error) {
	var hash []byte
	var until *time.Time
	err = r.Scan(&st.KEL, &hash, &until, &st.Answer)
	if errors.Is(err, pgx.ErrNoRows) {
		return directory.Standing{}, nil
	}
	st.Known, st.Until = err == nil, orZero(until)
	st.Repeatable = copy(st.Body[:], hash) == len(st.Body)
	return st, found(err, nil, "read a registration")
}

// Register implements directory.Store.
func (s *Directory) Register(ctx context.Context, p replay.Proof, e directory.Entry, decide func(directory.Record) (directory.Change, error)) error {
	err := s.proofs.OnceInTwo(ctx, p, func(b *pgx.Batch) {
		// Invites are locked before members wherever both are, so that nobody waits
		// for one while holding the other.
		queueInvite(b, e.Invite, p.AID)
		queueRecord(b, p.AID, e.KEL, e.At)
	}, func(answers pgx.BatchResults) (*pgx.Batch, error) {
		invite, err := toLockedInvite(answers, e.Invite)
		if err != nil {
			return nil, err
		}
		rec, err := toLockedRecord(answers)
		if err != nil {
			return nil, err
		}
		rec.Invite = invite
		ch, err := decide(rec)
		if err != nil {
			return nil, err
		}
		if retold(rec, ch) {
			s.marks.tell()
		}
		return changes(rec, ch, e.At)
	})
	return found(err, nil, "register")
}

// The statements of queueRecord. The lock has to be a statement of its own: what
// the next ones read is then what its last holder wrote. The AID itself is locked
// before, so that no peer teaches it meanwhile (see Learned).
const (
	beginMemberSQL = `
		INSERT INTO member (aid, kel, first_seen_at)
		SELECT @aid::text, @kel::bytea, @now::timestamptz FROM ` + lockAIDSQL + ` ON CONFLICT DO NOTHING`
	lockMemberSQL = `SELECT FROM member WHERE aid = @aid FOR UPDATE`
	readRecordSQL = `
		SELECT m.kel, first_seen_at, m.card_seq, m.card_hash, m.adp_seq, hidden_at IS NOT NULL, m.rating_sum, m.rating_count,
		       (SELECT keyset FROM agent_keyset k WHERE k.aid = m.aid),
		       (SELECT card FROM agent_card c WHERE c.aid = m.aid),
		       (SELECT card FROM agent_adp_card d WHERE d.aid = m.aid),
		       k.kel, coalesce(k.rating_sum, 0), coalesce(k.rating_count, 0),
		       EXISTS (SELECT FROM learned l WHERE l.aid = m.aid AND l.shown)
		FROM member m
		LEFT JOIN LATERAL (SELECT * FROM known_elsewhere k WHERE k.aid = m.aid OFFSET 0) AS k ON true
		WHERE m.aid = @aid`
	readAgentSQL = `SELECT ` + agentColumns + ` FROM agent a WHERE a.aid = @aid`
)

// queueRecord asks for a record nobody else can change until the transaction
// ends; toLockedRecord reads the answers.
func queueRecord(b *pgx.Batch, aid string, kel []byte, now time.Time) {
	b.Queue(beginMemberSQL, pgx.NamedArgs{"aid": aid, "kel": kel, "now": now})
	b.Queue(lockMemberSQL, pgx.NamedArgs{"aid": aid})
	b.Queue(readRecordSQL, pgx.NamedArgs{"aid": aid})
	b.Queue(readAgentSQL, pgx.NamedArgs{"aid": aid})
}

func toLockedRecord(res pgx.BatchResults) (rec directory.Record, err error) {
	tag, err := res.Exec()
	if err == nil {
		_, err = res.Exec()
	}
	if err == nil {
		rec, err = toRecord(res.QueryRow())
	}
	if err != nil {
		return rec, fmt.Errorf("lock a record: %w", err)
	}
	rec.New = tag.RowsAffected() == 1
	a, err := toAgent(res.QueryRow())
	if err == nil {
		rec.Agent = &a
	}
	return rec, found(err, nil, "read a registration")
}

func toRecord(r pgx.Row) (rec directory.Record, err error) {
	var seq *int64
	var hash []byte
	there := &rec.Elsewhere
	err = r.Scan(&rec.KEL, &rec.FirstSeen, &seq, &hash, &rec.ADPSeq, &rec.Hidden, &rec.Rating.Sum, &rec.Rating.Count, &rec.Keyset, &rec.Card, &rec.ADP,
		&there.KEL, &there.Rating.Sum, &there.Rating.Count, &there.Shown)
	rec.Rating.Sum, rec.Rating.Count = rec.Rating.Sum+there.Rating.Sum, rec.Rating.Count+there.Rating.Count
	rec.CardMark = toMark(seq, hash)
	return rec, err
}

func toMark(seq *int64, hash []byte) *card.Mark {
	m := card.Mark{}
	if seq == nil || copy(m.Hash[:], hash) != len(m.Hash) {
		return nil
	}
	m.Seq = *seq
	return &m
}
