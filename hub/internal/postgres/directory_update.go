package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/replay"
)

// lockAgent locks a registration through its member row and reads it.
func lockAgent(ctx context.Context, tx pgx.Tx, aid string) (directory.Agent, error) {
	args := pgx.NamedArgs{"aid": aid}
	if _, err := tx.Exec(ctx, lockMemberSQL, args); err != nil {
		return directory.Agent{}, fmt.Errorf("lock a record: %w", err)
	}
	a, err := toAgent(tx.QueryRow(ctx, readAgentSQL, args))
	return a, found(err, errAgentUnknown(), "read a registration")
}

// Update implements directory.Store. The next registration is worked through
// whole, since its body no longer says what stands here.
func (s *Directory) Update(ctx context.Context, p replay.Proof, change func(*directory.Agent)) error {
	return s.proofs.Once(ctx, p, func(tx pgx.Tx) error {
		before, err := lockAgent(ctx, tx, p.AID)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		args, err := agentArgs(after)
		if err != nil {
			return err
		}
		var b pgx.Batch
		b.Queue(upsertAgentSQL, args)
		queueListed(&b, before.InLists(), after.InLists())
		if before.Visibility.ToPeers() != after.Visibility.ToPeers() {
			queueMark(&b, p.AID)
			s.marks.tell()
		}
		return found(tx.SendBatch(ctx, &b).Close(), nil, "update a registration")
	})
}

const forgetBodySQL = `UPDATE agent SET body_hash = NULL, body_until = NULL, answered = NULL WHERE aid = @aid`

// PutKeys implements directory.Store.
func (s *Directory) PutKeys(ctx context.Context, p replay.Proof, decide func(kel, stored []byte) ([]byte, error)) error {
	return s.proofs.Once(ctx, p, func(tx pgx.Tx) error {
		a, err := lockAgent(ctx, tx, p.AID)
		if err != nil {
			return err
		}
		var kel, stored []byte
		err = tx.QueryRow(ctx, `
			SELECT kel, (SELECT keyset FROM agent_keyset k WHERE k.aid = m.aid)
			FROM member m WHERE aid = @aid`, pgx.NamedArgs{"aid": p.AID}).Scan(&kel, &stored)
		if err != nil {
			return fmt.Errorf("read a key set: %w", err)
		}
		keyset, err := decide(kel, stored)
		if err != nil || keyset == nil {
			return err
		}
		var b pgx.Batch
		b.Queue(putKeysetSQL, pgx.NamedArgs{"aid": p.AID, "keyset": keyset})
		b.Queue(forgetBodySQL, pgx.NamedArgs{"aid": p.AID})
		if a.Visibility.ToPeers() {
			queueMark(&b, p.AID)
			s.marks.tell()
		}
		return found(tx.SendBatch(ctx, &b).Close(), nil, "write a key set")
	})
}

// PutAddress implements directory.Store.
func (s *Directory) PutAddress(ctx context.Context, p replay.Proof, addr string, now time.Time) error {
	return s.proofs.Once(ctx, p, func(tx pgx.Tx) error {
		if _, err := lockAgent(ctx, tx, p.AID); err != nil {
			return err
		}
		sql := `DELETE FROM agent_address WHERE aid = @aid`
		if addr != "" {
			sql = `
				INSERT INTO agent_address (aid, addr, at) VALUES (@aid, @addr, @now)
				ON CONFLICT (aid) DO UPDATE SET addr = EXCLUDED.addr, at = EXCLUDED.at`
		}
		_, err := tx.Exec(ctx, sql, pgx.NamedArgs{"aid": p.AID, "addr": addr, "now": now})
		return found(err, nil, "write an address")
	})
}

// Deregister implements directory.Store.
func (s *Directory) Deregister(ctx context.Context, p replay.Proof) (undelivered int64, err error) {
	err = s.proofs.Once(ctx, p, func(tx pgx.Tx) error {
		if err := lockAIDs(ctx, tx, []string{p.AID}); err != nil {
			return err
		}
		a, err := lockAgent(ctx, tx, p.AID)
		if err != nil {
			return err
		}
		s.marks.tell()
		undelivered, err = remove(ctx, tx, a)
		return err
	})
	return undelivered, err
}

// remove ends a registration that is locked, as its AID is. Where peers told of it
// meanwhile, lists show that now.
func remove(ctx context.Context, tx pgx.Tx, a directory.Agent) (undelivered int64, err error) {
	var b pgx.Batch
	queueRemoval(&b, a)
	queueChange(&b, []string{a.AID}, func() {})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return 0, fmt.Errorf("remove a registration: %w", err)
	}
	return closeMailbox(ctx, tx, a.AID)
}

// queueRemoval removes everything but the member.
func queueRemoval(b *pgx.Batch, a directory.Agent) {
	args := pgx.NamedArgs{"aid": a.AID}
	dropCard(b, a.AID)
	for _, sql := range []string{
		`DELETE FROM agent_cap WHERE aid = @aid`,
		`DELETE FROM agent_adp_card WHERE aid = @aid`,
		`DELETE FROM agent_keyset WHERE aid = @aid`,
		`DELETE FROM agent_address WHERE aid = @aid`,
		`DELETE FROM agent_seen WHERE aid = @aid`,
		`DELETE FROM agent WHERE aid = @aid`,
	} {
		b.Queue(sql, args)
	}
	queueListed(b, a.InLists(), false)
	if a.Visibility.ToPeers() {
		queueMark(b, a.AID)
	}
}
