package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// queueMailbox lets an agent that registers get mail. A mailbox that was there
// before goes on where its ids ended.
func queueMailbox(b *pgx.Batch, aid string, now time.Time) {
	b.Queue(`
		INSERT INTO mailbox AS b (aid, is_open, last_id) VALUES (@aid, true, @clock)
		ON CONFLICT (aid) DO UPDATE SET is_open = true WHERE NOT b.is_open`,
		pgx.NamedArgs{"aid": aid, "clock": now.UnixMicro()})
}

// closeMailbox ends delivery to an agent that leaves and says how many messages
// went with the mailbox. The row stays: ids are never given out twice. Two
// statements, because the first may wait for a send: one statement would not
// see, and leave behind, what that send stored.
func closeMailbox(ctx context.Context, tx pgx.Tx, aid string) (undelivered int64, err error) {
	_, err = tx.Exec(ctx, `UPDATE mailbox SET is_open = false, count = 0, bytes = 0 WHERE aid = @aid`, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return 0, fmt.Errorf("close a mailbox: %w", err)
	}
	tag, err := tx.Exec(ctx, `DELETE FROM message WHERE to_aid = @aid`, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return 0, fmt.Errorf("empty a mailbox: %w", err)
	}
	return tag.RowsAffected(), nil
}
