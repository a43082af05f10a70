package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// Standings implements peers.Entries.
func (s *Peers) Standings(ctx context.Context) ([]peers.Standing, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+peerColumns+`, p.added_at, p.proved_at, p.last_success_at, p.last_refused_at, p.last_refusal, p.last_refusal_why, p.next_try_at
		FROM peer p ORDER BY p.position, p.id`)
	if err != nil {
		return nil, fmt.Errorf("read the peers: %w", err)
	}
	return pgx.CollectRows(rows, toStandingOfPeer)
}

func toStandingOfPeer(r pgx.CollectableRow) (s peers.Standing, err error) {
	var proved, success, refused *time.Time
	s.Peer, err = toPeer(r, &s.AddedAt, &proved, &success, &refused, &s.Refusal, &s.RefusalWhy, &s.NextTry)
	s.ProvedAt, s.LastSuccess, s.LastRefused = orZero(proved), orZero(success), orZero(refused)
	return s, err
}

// Add implements peers.Entries.
func (s *Peers) Add(ctx context.Context, p peers.Peer, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error { return addPeer(ctx, tx, p, nil, act.At) })
}

// addPeer puts a peer at a position, or at the end.
func addPeer(ctx context.Context, tx pgx.Tx, p peers.Peer, position *int, now time.Time) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, from_file, kel, added_at, proved_at, last_success_at, next_try_at)
		SELECT COALESCE(@position::integer, (SELECT GREATEST(max(position), 0) + 1 FROM peer), 1), @aid, @endpoint, @name, @delivery, @discovery, @from_file,
		       @kel::bytea, @now::timestamptz, t.at, t.at, @now
		FROM (SELECT CASE WHEN @kel::bytea IS NOT NULL THEN @now::timestamptz END) AS t (at)`,
		pgx.NamedArgs{"position": position, "aid": p.AID, "endpoint": p.Endpoint, "name": p.Name, "delivery": p.Delivery,
			"discovery": p.Discovery, "from_file": p.FromFile, "kel": p.KEL, "now": now})
	return peerTaken(err, p, "add a peer")
}

// peerTaken says which of what is unique was not.
func peerTaken(err error, p peers.Peer, doing string) error {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		switch said.ConstraintName {
		case "peer_aid_uq":
			return peers.Known(p)
		case "peer_endpoint_uq":
			return peers.EndpointTaken(p)
		case "peer_name_uq":
			return peers.NameTaken(p.Name)
		}
	}
	return found(err, nil, doing)
}

// Change implements peers.Entries.
func (s *Peers) Change(ctx context.Context, id int64, act audit.Act, do func(*peers.Peer) error) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		p, err := toPeer(tx.QueryRow(ctx, `SELECT `+peerColumns+` FROM peer p WHERE id = @id FOR UPDATE`, pgx.NamedArgs{"id": id}))
		if err != nil {
			return found(err, peers.NoSuchPeer(), "lock a peer")
		}
		if err := do(&p); err != nil {
			return err
		}
		return changePeer(ctx, tx, p, act.At)
	})
}

// changePeer writes what an operator decides about a peer, who may have waited for
// its next try for long.
func changePeer(ctx context.Context, tx pgx.Tx, p peers.Peer, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE peer SET endpoint = @endpoint, name = @name, delivery = @delivery, discovery = @discovery, paused = @paused, from_file = @from_file,
		       revision = revision + 1, next_try_at = @now
		WHERE id = @id`,
		pgx.NamedArgs{"id": p.ID, "endpoint": p.Endpoint, "name": p.Name, "delivery": p.Delivery, "discovery": p.Discovery,
			"paused": p.Paused, "from_file": p.FromFile, "now": now})
	return peerTaken(err, p, "change a peer")
}

// Remove implements peers.Entries. The debt is looked at before anything is forgotten,
// and again in the transaction that removes, which holds it still.
func (s *Peers) Remove(ctx context.Context, id int64, leaveDebt bool, act audit.Act) error {
	if _, err := parting(ctx, s.pool, id, leaveDebt, act); err != nil {
		return err
	}
	if err := forget(ctx, s.pool, id, act.At); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		act, err := parting(ctx, tx, id, leaveDebt, act)
		if err != nil {
			return err
		}
		// Whoever is a peer again has to be trusted with credits again, too.
		tag, err := tx.Exec(ctx, `
			WITH gone AS (DELETE FROM peer WHERE id = @id RETURNING aid),
			     shut AS (UPDATE clearing SET is_open = false FROM gone WHERE clearing.aid = gone.aid)
			SELECT aid FROM gone`, pgx.NamedArgs{"id": id})
		switch {
		case err != nil:
			return fmt.Errorf("remove a peer: %w", err)
		case tag.RowsAffected() == 0:
			return peers.NoSuchPeer()
		}
		return note(ctx, tx, act)
	})
}

// parting locks what a peer and this hub owe each other, and adds it to the act.
func parting(ctx context.Context, q asker, id int64, leaveDebt bool, act audit.Act) (audit.Act, error) {
	var name string
	var owed, due uint64
	err := q.QueryRow(ctx, `
		SELECT name, owed, due FROM clearing JOIN peer USING (aid) WHERE id = @id AND (owed > 0 OR due > 0) FOR UPDATE OF clearing`,
		pgx.NamedArgs{"id": id}).Scan(&name, &owed, &due)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return act, nil
	case err != nil:
		return act, fmt.Errorf("look at what a peer owes: %w", err)
	case !leaveDebt:
		return act, peers.InDebt(name, owed, due)
	}
	return act.With("owed", owed).With("due", due), nil
}
