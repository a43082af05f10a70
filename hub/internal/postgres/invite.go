package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
)

// Invites keeps invites (admission.Invites).
type Invites struct{ pool *pgxpool.Pool }

// NewInvites makes the store.
func NewInvites(pool *pgxpool.Pool) *Invites { return &Invites{pool: pool} }

// inviteColumns are what toInvite reads.
const inviteColumns = `i.id, i.label, i.max_uses, i.uses, i.created_at, i.expires_at, i.revoked_at`

// toInvite reads inviteColumns, and more behind them.
func toInvite(r pgx.Row, more ...any) (i admission.Invite, err error) {
	var expires, revoked *time.Time
	err = r.Scan(append([]any{&i.ID, &i.Label, &i.MaxUses, &i.Uses, &i.CreatedAt, &expires, &revoked}, more...)...)
	i.ExpiresAt, i.RevokedAt = orZero(expires), orZero(revoked)
	return i, err
}

const shownSQL = `
	SELECT ` + inviteColumns + `, EXISTS (SELECT FROM invite_use u WHERE u.invite_id = i.id AND u.aid = @aid)
	FROM invite i WHERE token_hash = @hash`

func toShown(r pgx.Row) (*admission.Shown, error) {
	var used bool
	i, err := toInvite(r, &used)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &admission.Shown{Invite: i, Used: used}, found(err, nil, "read an invite")
}

// Invited implements directory.Store.
func (s *Directory) Invited(ctx context.Context, hash, aid string) (*admission.Shown, error) {
	return toShown(s.pool.QueryRow(ctx, shownSQL, pgx.NamedArgs{"hash": hash, "aid": aid}))
}

// queueInvite asks for an invite that nobody else can use until the transaction
// ends; toLockedInvite reads the answers. The lock is a statement of its own: the
// next one then sees what its last holder did with it.
func queueInvite(b *pgx.Batch, hash, aid string) {
	if hash == "" {
		return
	}
	args := pgx.NamedArgs{"hash": hash, "aid": aid}
	b.Queue(`SELECT FROM invite WHERE token_hash = @hash FOR UPDATE`, args)
	b.Queue(shownSQL, args)
}

func toLockedInvite(res pgx.BatchResults, hash string) (*admission.Shown, error) {
	if hash == "" {
		return nil, nil
	}
	if _, err := res.Exec(); err != nil {
		return nil, fmt.Errorf("lock an invite: %w", err)
	}
	return toShown(res.QueryRow())
}

// queueRedeem uses an invite that is locked. The row of the use outlives the
// registration: who leaves, or is removed, gives nothing back.
func queueRedeem(b *pgx.Batch, id, aid string, now time.Time) {
	if id == "" {
		return
	}
	args := pgx.NamedArgs{"id": id, "aid": aid, "now": now}
	b.Queue(`INSERT INTO invite_use (invite_id, aid, at) VALUES (@id, @aid, @now)`, args)
	b.Queue(`UPDATE invite SET uses = uses + 1 WHERE id = @id`, args)
}

// Add implements admission.Invites.
func (s *Invites) Add(ctx context.Context, i admission.Invite, hash string, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO invite (id, token_hash, label, max_uses, created_at, expires_at)
			VALUES (@id, @hash, @label, @max_uses, @created_at, @expires_at)`,
			pgx.NamedArgs{"id": i.ID, "hash": hash, "label": i.Label, "max_uses": i.MaxUses,
				"created_at": i.CreatedAt, "expires_at": orNull(i.ExpiresAt)})
		return found(err, nil, "store an invite")
	})
}

// All implements admission.Invites.
func (s *Invites) All(ctx context.Context) ([]admission.Invite, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+inviteColumns+` FROM invite i ORDER BY created_at DESC, id`)
	if err != nil {
		return nil, fmt.Errorf("read the invites: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (admission.Invite, error) { return toInvite(r) })
}

// ByToken implements admission.Invites.
func (s *Invites) ByToken(ctx context.Context, hash string) (*admission.Invite, error) {
	shown, err := toShown(s.pool.QueryRow(ctx, shownSQL, pgx.NamedArgs{"hash": hash, "aid": ""}))
	if shown == nil {
		return nil, err
	}
	return &shown.Invite, err
}

// Invite implements admission.Invites.
func (s *Invites) Invite(ctx context.Context, id string) (admission.Invite, []admission.Redeemer, error) {
	args := pgx.NamedArgs{"id": id}
	i, err := toInvite(s.pool.QueryRow(ctx, `SELECT `+inviteColumns+` FROM invite i WHERE id = @id`, args))
	if err != nil {
		return i, nil, found(err, admission.NoSuchInvite(), "read an invite")
	}
	rows, err := s.pool.Query(ctx, `
		SELECT u.aid, u.at, COALESCE(NULLIF(a.card_name, ''), a.name, '') AS name, a.aid IS NOT NULL AS registered,
		       b.id IS NOT NULL AS blocked, b.id IS NOT NULL AND b.expires_at IS NULL AS for_good
		FROM invite_use u JOIN member m ON m.aid = u.aid LEFT JOIN agent a ON a.aid = u.aid LEFT JOIN block b ON b.aid = u.aid
		WHERE u.invite_id = @id ORDER BY u.at, u.aid`, args)
	if err != nil {
		return i, nil, fmt.Errorf("read who came in: %w", err)
	}
	came, err := pgx.CollectRows(rows, pgx.RowToStructByPos[admission.Redeemer])
	return i, came, err
}

// Revoke implements admission.Invites.
func (s *Invites) Revoke(ctx context.Context, id string, block bool, act audit.Act) (aids []string, err error) {
	err = acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		if err := revoke(ctx, tx, id, act.At); err != nil || !block {
			return err
		}
		if aids, err = redeemers(ctx, tx, id); err != nil {
			return err
		}
		return blockMembers(ctx, tx, aids, act)
	})
	return aids, err
}

// revoke ends the invite or says why that can't be.
func revoke(ctx context.Context, tx pgx.Tx, id string, now time.Time) error {
	args := pgx.NamedArgs{"id": id, "now": now}
	tag, err := tx.Exec(ctx, `UPDATE invite SET revoked_at = @now WHERE id = @id AND revoked_at IS NULL`, args)
	if err != nil || tag.RowsAffected() == 1 {
		return found(err, nil, "revoke an invite")
	}
	var since time.Time
	err = tx.QueryRow(ctx, `SELECT revoked_at FROM invite WHERE id = @id`, args).Scan(&since)
	if err != nil {
		return found(err, admission.NoSuchInvite(), "read an invite")
	}
	return admission.AlreadyRevoked(since)
}

// redeemers are who came in by an invite and is not blocked for good: a block that
// ends would let in again whom the operator means to keep out.
func redeemers(ctx context.Context, tx pgx.Tx, id string) ([]string, error) {
	rows, err := tx.Query(ctx, `
		SELECT u.aid FROM invite_use u JOIN member m ON m.aid = u.aid
		WHERE u.invite_id = @id AND NOT EXISTS (SELECT FROM block b WHERE b.aid = u.aid AND b.expires_at IS NULL) ORDER BY u.aid`, pgx.NamedArgs{"id": id})
	if err != nil {
		return nil, fmt.Errorf("read who came in: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
