package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/errs"
)

// Moderation keeps what operators decided about others. Each act is written down
// in its own transaction, and one that changes nothing fails.
type Moderation struct{ pool *pgxpool.Pool }

// NewModeration makes the store.
func NewModeration(pool *pgxpool.Pool) *Moderation { return &Moderation{pool: pool} }

// Block adds a block, of an AID that was never here as well.
func (s *Moderation) Block(ctx context.Context, b moderation.Block, act audit.Act) error {
	return acting(ctx, s.pool, ending(act, b), func(tx pgx.Tx) error { return block(ctx, tx, b) })
}

// BlockMember adds a block of an AID that is or was registered here.
func (s *Moderation) BlockMember(ctx context.Context, b moderation.Block, act audit.Act) error {
	return acting(ctx, s.pool, ending(act, b), func(tx pgx.Tx) error {
		if err := here(ctx, tx, b.AID); err != nil {
			return err
		}
		return block(ctx, tx, b)
	})
}

func ending(act audit.Act, b moderation.Block) audit.Act {
	if b.Until.IsZero() {
		return act
	}
	return act.With("until", b.Until.UTC().Format(time.RFC3339))
}

func here(ctx context.Context, tx pgx.Tx, aid string) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM member WHERE aid = @aid`, pgx.NamedArgs{"aid": aid}).Scan(&one)
	return found(err, moderation.NeverHere(), "look for a member")
}

func block(ctx context.Context, tx pgx.Tx, b moderation.Block) error {
	args := targetArgs(b.Target)
	args["why"], args["now"], args["until"] = b.Why, b.At, orNull(b.Until)
	_, err := tx.Exec(ctx, `DELETE FROM block WHERE `+targetIs+` AND expires_at <= @now`, args)
	if err != nil {
		return fmt.Errorf("forget a block that ended: %w", err)
	}
	tag, err := tx.Exec(ctx, `
		INSERT INTO block (aid, host, why, created_at, expires_at) VALUES (@aid, @host, @why, @now, @until)
		ON CONFLICT DO NOTHING`, args)
	switch {
	case err != nil:
		return fmt.Errorf("store a block: %w", err)
	case tag.RowsAffected() == 0:
		return moderation.AlreadyBlocked()
	case b.AID == "":
		return nil
	}
	return lockBlocked(ctx, tx, []string{b.AID}, true)
}

const targetIs = `(aid = @aid OR host = @host)`

func targetArgs(t moderation.Target) pgx.NamedArgs {
	if t.AID != "" {
		return pgx.NamedArgs{"aid": t.AID, "host": nil}
	}
	return pgx.NamedArgs{"aid": nil, "host": t.Host}
}

// Unblock lifts a block; all is as it was before.
func (s *Moderation) Unblock(ctx context.Context, t moderation.Target, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM block WHERE `+targetIs, targetArgs(t))
		switch {
		case err != nil:
			return fmt.Errorf("lift a block: %w", err)
		case tag.RowsAffected() == 0:
			return moderation.NotBlocked()
		case t.AID == "":
			return nil
		}
		return lockBlocked(ctx, tx, []string{t.AID}, false)
	})
}

// Blocks gives the blocks in force, the newest first.
func (s *Moderation) Blocks(ctx context.Context, now time.Time) ([]moderation.Block, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+blockColumns+` FROM block WHERE `+holds+` ORDER BY created_at DESC, id DESC`,
		pgx.NamedArgs{"asked_at": now})
	if err != nil {
		return nil, fmt.Errorf("read the blocks: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (moderation.Block, error) { return toBlock(r) })
}

// blockMembers blocks some for good that are not yet, and writes an act for each,
// beside the act that was meant.
func blockMembers(ctx context.Context, tx pgx.Tx, aids []string, act audit.Act) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO block (aid, why, created_at)
		SELECT aid, @why, @now FROM unnest(@aids::text[]) AS t (aid) ORDER BY aid
		ON CONFLICT (aid) DO UPDATE SET why = EXCLUDED.why, created_at = EXCLUDED.created_at, expires_at = NULL`,
		pgx.NamedArgs{"aids": aids, "why": act.Why, "now": act.At})
	if err != nil {
		return fmt.Errorf("block members: %w", err)
	}
	for _, aid := range aids {
		if err := note(ctx, tx, act.Did("block.add", aid, act.At).With("with", act.Target)); err != nil {
			return err
		}
	}
	return lockBlocked(ctx, tx, aids, true)
}

// Hide takes an agent out of every list and lets it work.
func (s *Moderation) Hide(ctx context.Context, act audit.Act) error {
	return s.hide(ctx, act, true, moderation.AlreadyHidden())
}

// Unhide lists it again as it was.
func (s *Moderation) Unhide(ctx context.Context, act audit.Act) error {
	return s.hide(ctx, act, false, moderation.NotHidden())
}

func (s *Moderation) hide(ctx context.Context, act audit.Act, is bool, already error) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{"aid": act.Target, "now": act.At, "is": is}
		if err := lockAIDs(ctx, tx, []string{act.Target}); err != nil {
			return err
		}
		var was bool
		err := tx.QueryRow(ctx, `SELECT hidden_at IS NOT NULL FROM member WHERE aid = @aid FOR UPDATE`, args).Scan(&was)
		if err != nil {
			return found(err, moderation.NeverHere(), "lock a member")
		}
		if was == is {
			return already
		}
		if _, err := tx.Exec(ctx, `UPDATE member SET hidden_at = CASE WHEN @is THEN @now::timestamptz END WHERE aid = @aid`, args); err != nil {
			return fmt.Errorf("hide or show a member: %w", err)
		}
		if err := relist(ctx, tx, []string{act.Target}); err != nil {
			return err
		}
		return relearn(ctx, tx, []string{act.Target})
	})
}

// Remove ends a registration as its agent would by leaving: the key history and
// what was signed stay. It says how many messages were deleted with the mailbox.
func (s *Moderation) Remove(ctx context.Context, act audit.Act) (undelivered int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := lockAIDs(ctx, tx, []string{act.Target}); err != nil {
			return err
		}
		a, err := lockAgent(ctx, tx, act.Target)
		if errs.KindOf(err) == errs.NotFound {
			return moderation.NotRegistered()
		}
		if err != nil {
			return err
		}
		if undelivered, err = remove(ctx, tx, a); err != nil {
			return err
		}
		return note(ctx, tx, act.With("undelivered", undelivered))
	})
	return undelivered, err
}
