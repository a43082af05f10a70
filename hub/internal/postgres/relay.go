package postgres

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
)

// inlineBytes is how much of a page a look brings along. Memory for more is
// reserved before it is read.
const inlineBytes = 256 << 10

// Relay keeps mailboxes (relay.Store).
type Relay struct {
	pool   *pgxpool.Pool
	replay *Replay
}

// NewRelay makes the store.
func NewRelay(pool *pgxpool.Pool, r *Replay) *Relay { return &Relay{pool: pool, replay: r} }

// enqueueSQL is one statement, so that a send is one round trip. The row of the
// mailbox is locked from the moment its id is taken until the commit: ids become
// visible in their order, or a poll with after_id would skip a message that
// commits late. An id is never below the clock's microseconds: a database that
// was restored from a backup gives out none a second time.
var enqueueSQL = once(`,
	box AS (
		UPDATE mailbox
		SET last_id = greatest(last_id + 1, @clock), count = count + 1, bytes = bytes + @size
		WHERE aid = @to AND is_open AND count < @max_count AND bytes + @size <= @max_bytes AND EXISTS (SELECT FROM once)
		RETURNING last_id, count),
	mail AS (
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		SELECT @to, last_id, @size, @now, @envelope FROM box)
	SELECT EXISTS (SELECT FROM once), (SELECT last_id FROM box), (SELECT count = 1 FROM box),
		(SELECT coalesce(s.last_seen, a.registered_at)
		 FROM agent a LEFT JOIN agent_seen s USING (aid) WHERE a.aid = @to)`)

// Enqueue stores a message.
func (s *Relay) Enqueue(ctx context.Context, p replay.Proof, m relay.Mail, l relay.Limits) (relay.Queued, error) {
	var id *int64
	var alone *bool
	var seen *time.Time
	err := s.replay.using(ctx, s.pool, enqueueSQL, p, func(sql named, args pgx.NamedArgs) (fresh bool, err error) {
		maps.Copy(args, pgx.NamedArgs{
			"to": m.To, "envelope": m.Envelope, "size": int64(len(m.Envelope)), "now": m.At,
			"clock": m.At.UnixMicro(), "max_count": l.Messages, "max_bytes": l.Bytes,
		})
		err = s.pool.QueryRow(ctx, sql.sql, sql.bind(args)...).Scan(&fresh, &id, &alone, &seen)
		return fresh, err
	})
	switch {
	case err != nil:
		return relay.Queued{}, fmt.Errorf("enqueue: %w", err)
	case id == nil:
		return s.refusal(ctx, m)
	case seen == nil: // it left while the message was stored
		seen = &m.At
	}
	return relay.Queued{ID: *id, LastSeen: *seen, Alone: *alone}, nil
}

// standsSQL says of a recipient whether its mailbox is open, and whether it is this
// hub's affair: registered here, or blocked. The mailbox of who left is neither.
const standsSQL = `
	SELECT EXISTS (SELECT FROM mailbox WHERE aid = @to AND is_open),
	       EXISTS (SELECT FROM agent WHERE aid = @to) OR EXISTS (SELECT FROM block WHERE aid = @to AND ` + holds + `)`

// refusal says why a mailbox took nothing. Senders are not told who is blocked, and
// no other hub is asked to deliver around it.
func (s *Relay) refusal(ctx context.Context, m relay.Mail) (relay.Queued, error) {
	var open, here bool
	err := s.pool.QueryRow(ctx, standsSQL, pgx.NamedArgs{"to": m.To, "asked_at": m.At}).Scan(&open, &here)
	switch {
	case err != nil:
		return relay.Queued{}, fmt.Errorf("look at a mailbox: %w", err)
	case open:
		return relay.Queued{}, relay.MailboxFull()
	case here:
		return relay.Queued{}, relay.NoSuchRecipient()
	}
	return relay.Queued{NotHere: true}, nil
}

// lookSQL finds a page by its sizes and brings the first envelopes along. The
// limit stands inside, so that nothing behind the page is added up.
const lookSQL = `
	SELECT id, size, CASE WHEN upto <= @inline THEN envelope END AS envelope
	FROM (SELECT id, size, envelope, sum(size) OVER (ORDER BY id) AS upto
	      FROM (SELECT id, size, envelope FROM message
	            WHERE to_aid = @aid AND id > @after ORDER BY id LIMIT @limit) m) page
	ORDER BY id`

// pollSQL has one row more than nothing where the proof is good and the mailbox
// is empty.
var pollSQL = statement{
	once(` SELECT o.*, page.* FROM (SELECT ` + soon + ` FROM once) o LEFT JOIN LATERAL (` + lookSQL + `) page ON true`).usual,
	once(` SELECT '', page.* FROM once LEFT JOIN LATERAL (` + lookSQL + `) page ON true`).ahead,
}

func lookArgs(l relay.Look) pgx.NamedArgs {
	return pgx.NamedArgs{"aid": l.AID, "after": l.After, "limit": l.Limit, "inline": inlineBytes}
}

// Look gives a page of a mailbox.
func (s *Relay) Look(ctx context.Context, l relay.Look) ([]relay.Message, error) {
	rows, err := s.pool.Query(ctx, lookSQL, lookArgs(l))
	return collect(rows, err)
}

// Poll uses up the proof and looks.
func (s *Relay) Poll(ctx context.Context, p replay.Proof, l relay.Look) (found []relay.Message, err error) {
	err = s.replay.using(ctx, s.pool, pollSQL, p, func(sql named, args pgx.NamedArgs) (fresh bool, err error) {
		maps.Copy(args, lookArgs(l))
		rows, err := s.pool.Query(ctx, sql.sql, sql.bind(args)...)
		if err != nil {
			return false, err
		}
		defer rows.Close()
		for rows.Next() {
			fresh = true
			var id, size *int64
			var m relay.Message
			if err := rows.Scan(nil, &id, &size, &m.Envelope); err != nil {
				return false, err
			}
			if id != nil {
				m.ID, m.Size = *id, *size
				found = append(found, m)
			}
		}
		return fresh, rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("poll: %w", err)
	}
	return found, nil
}

// Fetch gives messages with their envelopes.
func (s *Relay) Fetch(ctx context.Context, aid string, ids []int64) ([]relay.Message, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, size, envelope FROM message WHERE to_aid = @aid AND id = ANY (@ids) ORDER BY id`,
		pgx.NamedArgs{"aid": aid, "ids": ids})
	return collect(rows, err)
}

func collect(rows pgx.Rows, err error) ([]relay.Message, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[relay.Message])
}

// ackSQL locks the mailbox before it deletes, as every change does: its count
// is what lies in it. It does not wait for the disk: an acknowledgement that a
// crash of the database forgets is a message delivered once more, which its
// receiver knows by the message's id.
var ackSQL = statement{once(ackDoes + soon + ackSays).usual, once(ackDoes + `''` + ackSays).ahead}

const (
	ackDoes = `,
	box AS (
		SELECT aid FROM mailbox WHERE aid = @aid AND EXISTS (SELECT FROM once) FOR UPDATE),
	gone AS (
		DELETE FROM message m USING box WHERE m.to_aid = box.aid AND m.id = ANY (@ids) RETURNING m.size),
	total AS (
		SELECT count(*) AS n, coalesce(sum(size), 0)::bigint AS bytes FROM gone),
	less AS (
		UPDATE mailbox b SET count = b.count - total.n, bytes = b.bytes - total.bytes
		FROM total WHERE b.aid = @aid AND total.n > 0)
	SELECT `
	ackSays = `, EXISTS (SELECT FROM once), n, bytes FROM total`
)

// Ack deletes messages of the signer's own mailbox.
func (s *Relay) Ack(ctx context.Context, p replay.Proof, ids []int64) (n, bytes int64, err error) {
	err = s.replay.using(ctx, s.pool, ackSQL, p, func(sql named, args pgx.NamedArgs) (fresh bool, err error) {
		args["aid"], args["ids"] = p.AID, ids
		err = s.pool.QueryRow(ctx, sql.sql, sql.bind(args)...).Scan(nil, &fresh, &n, &bytes)
		return fresh, err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("ack: %w", err)
	}
	return n, bytes, nil
}
