package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/moderation"
)

// What blocks a visitor, one lookup by the AID and one by the address. Together
// in one condition they would be a scan of the table.
const (
	holds        = `(expires_at IS NULL OR expires_at > @asked_at)`
	blocksAID    = `FROM block WHERE aid = @signer AND ` + holds
	blocksHost   = `FROM block WHERE host >>= @from::inet AND ` + holds
	blockColumns = `coalesce(aid, ''), host, why, created_at, expires_at`
	blockedSQL   = `
	(SELECT ` + blockColumns + ` ` + blocksAID + `)
	UNION ALL
	(SELECT ` + blockColumns + ` ` + blocksHost + ` LIMIT 1)`
)

func visitorArgs(v moderation.Visitor) pgx.NamedArgs {
	args := pgx.NamedArgs{"signer": v.AID, "from": nil, "asked_at": v.At}
	if v.From.IsValid() {
		args["from"] = v.From
	}
	return args
}

func toBlock(r pgx.Row) (b moderation.Block, err error) {
	var host *netip.Prefix
	var until *time.Time
	err = r.Scan(&b.AID, &host, &b.Why, &b.At, &until)
	if b.Until = orZero(until); host != nil {
		b.Host = *host
	}
	return b, err
}

// refusal is the answer that a row of blockedSQL stands for, nil when there is none.
func refusal(r pgx.Row) error {
	b, err := toBlock(r)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for a block: %w", err)
	}
	return b.Refusal()
}

// Refused implements directory.Reads.
func (s *Directory) Refused(ctx context.Context, v moderation.Visitor) error {
	return refusal(s.pool.QueryRow(ctx, blockedSQL, visitorArgs(v)))
}

// blocked brings lists and mailboxes of locked members to what a block, or its
// end, says.
func blocked(ctx context.Context, tx pgx.Tx, aids []string, is bool) error {
	if err := relist(ctx, tx, aids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE mailbox b SET is_open = @open FROM agent a WHERE a.aid = b.aid AND b.aid = ANY (@aids)`,
		pgx.NamedArgs{"aids": aids, "open": !is})
	return found(err, nil, "open or close mailboxes")
}

// lockBlocked locks members whose blocks were written before: blocks come before
// members wherever both are locked, and AIDs before these.
func lockBlocked(ctx context.Context, tx pgx.Tx, aids []string, is bool) error {
	if err := relearn(ctx, tx, aids); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, lockMembersSQL, pgx.NamedArgs{"aids": aids}); err != nil {
		return fmt.Errorf("lock members: %w", err)
	}
	return blocked(ctx, tx, aids, is)
}

// Lift implements liveness.Tour. Beside what has ended it finds the rare agent
// that registered for the first time while its block was written, and is shown.
func (s *Directory) Lift(ctx context.Context, now time.Time) error {
	_, err := exclusively(ctx, s.pool, lockBlocks, func(tx pgx.Tx) error {
		ended, err := aidsOf(tx.Query(ctx, `
			DELETE FROM block WHERE id IN (
				SELECT id FROM block WHERE expires_at <= @now ORDER BY id LIMIT @n FOR UPDATE)
			RETURNING coalesce(aid, '')`, pgx.NamedArgs{"now": now, "n": tourStep}))
		if err != nil {
			return err
		}
		if err := lockBlocked(ctx, tx, ended, false); err != nil {
			return err
		}
		shown, err := aidsOf(tx.Query(ctx, `
			SELECT b.aid FROM block b JOIN agent a ON a.aid = b.aid WHERE a.shown LIMIT @n`, pgx.NamedArgs{"n": tourStep}))
		if err != nil {
			return err
		}
		return lockBlocked(ctx, tx, shown, true)
	})
	return found(err, nil, "lift blocks that ended")
}

func aidsOf(rows pgx.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
