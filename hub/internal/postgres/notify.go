package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/errs"
)

const (
	mailChannel = "anet_mail"
	maxPayload  = 7900             // PostgreSQL takes less than 8000 bytes
	everything  = "*"              // instead of AIDs: look at every mailbox
	pingEvery   = 30 * time.Second // a listening connection can be dead unnoticed
	pingWithin  = 5 * time.Second
)

// Dial opens a connection that is one session (DB.Direct).
type Dial func(context.Context) (*pgx.Conn, error)

// Bus tells the processes on one database of new mail (wake.Bus). A payload is
// the id of the process that speaks, then AIDs.
type Bus struct {
	dial   Dial
	pool   *pgxpool.Pool
	id     string
	teller *pgx.Conn // of Tell alone
}

// NewBus makes a bus. Tell and Hear run beside each other, each in one place.
func NewBus(dial Dial, pool *pgxpool.Pool) *Bus {
	return &Bus{dial: dial, pool: pool, id: rand.Text()[:8]}
}

// Tell notifies the other processes, on a connection of its own so that news
// don't wait for one of the pool's.
func (b *Bus) Tell(ctx context.Context, n wake.News) error {
	q, err := b.tellOn(ctx)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `SELECT pg_notify(@channel, p) FROM unnest(@payloads::text[]) AS p`,
		pgx.NamedArgs{"channel": mailChannel, "payloads": b.payloads(n)})
	if err != nil {
		b.hangUp()
		return fmt.Errorf("tell of new mail: %w", err)
	}
	return nil
}

func (b *Bus) tellOn(ctx context.Context) (querier, error) {
	if b.teller != nil && !b.teller.IsClosed() {
		return b.teller, nil
	}
	conn, err := b.dial(ctx)
	if errs.Is(err, errPooled.Reason) {
		return b.pool, nil // telling needs no session, only hearing does
	}
	if err != nil {
		return nil, err
	}
	b.teller = conn
	return conn, nil
}

// Close ends the connection of Tell.
func (b *Bus) Close() { b.hangUp() }

func (b *Bus) hangUp() {
	if b.teller != nil {
		closeConn(b.teller)
		b.teller = nil
	}
}

func closeConn(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

func (b *Bus) payloads(n wake.News) []string {
	if n.All {
		return []string{b.id + " " + everything}
	}
	var out []string
	var p strings.Builder
	for _, aid := range n.AIDs {
		if p.Len() > 0 && p.Len()+1+len(aid) > maxPayload {
			out = append(out, p.String())
			p.Reset()
		}
		if p.Len() == 0 {
			p.WriteString(b.id)
		}
		p.WriteString(" " + aid)
	}
	return append(out, p.String())
}

// Hear listens until the connection is lost.
func (b *Bus) Hear(ctx context.Context, ready func(), heard func(wake.News)) error {
	conn, err := b.dial(ctx)
	if errs.Is(err, errPooled.Reason) {
		return wake.ErrDeaf
	}
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if _, err := conn.Exec(ctx, `LISTEN `+mailChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready()
	for {
		payload, err := next(ctx, conn)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if n, foreign := b.parse(payload); foreign {
			heard(n)
		}
	}
}

// next waits for a notification and sees to it that the connection is alive.
func next(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, pingEvery)
		n, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil {
			return n.Payload, nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		ping, cancel := context.WithTimeout(ctx, pingWithin)
		err = conn.Ping(ping)
		cancel()
		if err != nil {
			return "", err
		}
	}
}

// parse reads a payload; what this process told itself is not foreign.
func (b *Bus) parse(payload string) (n wake.News, foreign bool) {
	from, aids, _ := strings.Cut(payload, " ")
	if aids == everything {
		return wake.News{All: true}, from != b.id
	}
	return wake.News{AIDs: strings.Fields(aids)}, from != b.id
}
