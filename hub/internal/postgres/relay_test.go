package postgres

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

var roomy = relay.Limits{Envelope: 1 << 20, Messages: 5000, Bytes: 1 << 30, Total: 1 << 40, PollBudget: 48 << 20, TTL: time.Hour, QuietAfter: time.Hour}

// mailroom is the store with a clock.
type mailroom struct {
	*Relay
	*clock
	t    testing.TB
	pool *pgxpool.Pool
}

func newMailroom(t testing.TB, pool *pgxpool.Pool, open ...string) *mailroom {
	c := newClock()
	m := &mailroom{NewRelay(pool, newReplay(pool, c)), c, t, pool}
	for _, aid := range open {
		m.open(aid)
	}
	return m
}

func (m *mailroom) open(aid string) {
	m.t.Helper()
	if err := pgx.BeginFunc(context.Background(), m.pool, func(tx pgx.Tx) error {
		var b pgx.Batch
		queueMailbox(&b, aid, m.now())
		return tx.SendBatch(context.Background(), &b).Close()
	}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mailroom) shut(aid string) (undelivered int64) {
	m.t.Helper()
	if err := pgx.BeginFunc(context.Background(), m.pool, func(tx pgx.Tx) (err error) {
		undelivered, err = closeMailbox(context.Background(), tx, aid)
		return err
	}); err != nil {
		m.t.Fatal(err)
	}
	return undelivered
}

var errNotHere = errs.New(errs.NotFound, "not_here", "no error of the store: another hub may be asked")

func (m *mailroom) send(to, text string, l relay.Limits) (int64, error) {
	q, err := m.Enqueue(context.Background(), m.sign("sender"), relay.Mail{To: to, Envelope: []byte(text), At: m.now()}, l)
	if q.NotHere {
		err = errNotHere
	}
	return q.ID, err
}

func (m *mailroom) mustSend(to, text string) int64 {
	m.t.Helper()
	id, err := m.send(to, text, roomy)
	if err != nil {
		m.t.Fatal(err)
	}
	return id
}

func (m *mailroom) poll(aid string, after int64) []relay.Message {
	m.t.Helper()
	got, err := m.Poll(context.Background(), m.sign(aid), relay.Look{AID: aid, After: after, Limit: 100})
	if err != nil {
		m.t.Fatal(err)
	}
	return got
}

func (m *mailroom) ack(aid string, ids ...int64) int64 {
	m.t.Helper()
	n, _, err := m.Ack(context.Background(), m.sign(aid), ids)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// wantExact compares a mailbox's counters with what lies in it.
func (m *mailroom) wantExact(aid string, want int64) {
	m.t.Helper()
	var count, size, rows, sum int64
	if err := m.pool.QueryRow(context.Background(), `
		SELECT b.count, b.bytes, count(m.id), coalesce(sum(m.size), 0)::bigint
		FROM mailbox b LEFT JOIN message m ON m.to_aid = b.aid WHERE b.aid = $1 GROUP BY b.aid`, aid).
		Scan(&count, &size, &rows, &sum); err != nil {
		m.t.Fatal(err)
	}
	if count != want || rows != want || size != sum {
		m.t.Errorf("mailbox of %s counts %d messages with %d bytes, holds %d with %d, want %d", aid, count, size, rows, sum, want)
	}
}

// Checklist 41: poll cursor; nothing is skipped while many send. Ids become
// visible in their order, so a poller that only looks after the last id it has
// seen sees every message.
func TestRelayCursorMissesNothing(t *testing.T) {
	const senders, each = 20, 25
	m := newMailroom(t, pgtest.New(t), "bob")
	var sent sync.Map
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				text := fmt.Sprintf("%d/%d", i, j)
				id, err := m.send("bob", text, roomy)
				if _, twice := sent.LoadOrStore(id, text); err != nil || twice {
					t.Errorf("send %s: id %d (given out before: %v), %v", text, id, twice, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var cursor int64
	got := 0
	for all := false; !all; {
		sending := true
		select {
		case <-done:
			sending = false
		default:
		}
		page := m.poll("bob", cursor)
		for _, msg := range page {
			if msg.ID <= cursor {
				t.Fatalf("id %d after %d", msg.ID, cursor)
			}
			cursor = msg.ID
			got++
		}
		all = !sending && len(page) == 0
	}
	if got != senders*each {
		t.Errorf("the poller saw %d of %d messages", got, senders*each)
	}
	m.wantExact("bob", senders*each)
}

func TestRelayAckOfForeignIdsRemovesNothing(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob", "eve")
	id := m.mustSend("bob", "for bob")
	if n := m.ack("eve", id, id+1, -1, 0); n != 0 {
		t.Errorf("eve acknowledged %d messages of bob's", n)
	}
	m.wantExact("bob", 1)
	if n := m.ack("bob", id, id, 1<<62); n != 1 {
		t.Errorf("acked %d, want 1", n)
	}
	m.wantExact("bob", 0)
}

// Ids come from the clock, so a restored database gives out none again.
func TestRelayIdsAfterARestore(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	backup := m.mustSend("bob", "in the backup")
	m.advance(time.Minute)
	lost := m.mustSend("bob", "after the backup")
	if _, err := m.pool.Exec(t.Context(), `DELETE FROM message WHERE id = $1`, lost); err != nil {
		t.Fatal(err)
	}
	if _, err := m.pool.Exec(t.Context(), `UPDATE mailbox SET last_id = $1, count = 1`, backup); err != nil {
		t.Fatal(err)
	}
	m.advance(time.Minute)
	if id := m.mustSend("bob", "after the restore"); id <= lost || id >= 1<<53 {
		t.Errorf("id = %d, want above %d and below 2^53", id, lost)
	}
}

func TestRelayEveryEffectUsesTheProofOnce(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	mail := relay.Mail{To: "bob", Envelope: []byte("x"), At: m.now()}
	tests := []struct {
		name string
		do   func(replay.Proof) error
	}{
		{"send", func(p replay.Proof) error { _, err := m.Enqueue(t.Context(), p, mail, roomy); return err }},
		{"poll", func(p replay.Proof) error {
			_, err := m.Poll(t.Context(), p, relay.Look{AID: "bob", Limit: 1})
			return err
		}},
		{"ack", func(p replay.Proof) error { _, _, err := m.Ack(t.Context(), p, []int64{1}); return err }},
	}
	for _, tt := range tests {
		p := m.sign("bob")
		wantReason(t, tt.name, tt.do(p), "")
		wantReason(t, tt.name+" again", tt.do(p), "replayed")
	}
	m.wantExact("bob", 1)
	p := m.sign("bob")
	q, err := m.Enqueue(t.Context(), p, relay.Mail{To: "nobody", Envelope: []byte("x"), At: m.now()}, roomy)
	if err != nil || !q.NotHere {
		t.Errorf("a send to nobody here: %+v, %v", q, err)
	}
	wantReason(t, "uses up the proof", m.replay.Remember(t.Context(), p), "replayed")
}

func TestRelayLookBringsSmallPagesAlong(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	big := bytes.Repeat([]byte("b"), 200<<10)
	small := m.mustSend("bob", "small")
	m.mustSend("bob", string(big))
	third := m.mustSend("bob", string(big))
	got := m.poll("bob", 0)
	if len(got) != 3 || string(got[0].Envelope) != "small" || !bytes.Equal(got[1].Envelope, big) {
		t.Fatalf("%d messages, want the first two complete", len(got))
	}
	if got[2].Envelope != nil || got[2].Size != int64(len(big)) {
		t.Errorf("the third came along with %d of %d bytes, want its size alone", len(got[2].Envelope), got[2].Size)
	}
	rest, err := m.Fetch(t.Context(), "bob", []int64{third, third + 1})
	if err != nil || len(rest) != 1 || !bytes.Equal(rest[0].Envelope, big) {
		t.Errorf("Fetch = %d messages, %v", len(rest), err)
	}
	if other, err := m.Fetch(t.Context(), "eve", []int64{small}); len(other) != 0 || err != nil {
		t.Errorf("eve fetched %d messages of bob's, %v", len(other), err)
	}
}

// Checklist 41: what lies in a mailbox does not tell who sent it, nor does
// anything else that is kept with it.
func TestRelayStoresNoSender(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	m.mustSend("bob", "x")
	for _, table := range []string{"message", "mailbox", "replay", "replay_ahead"} {
		var hits int
		if err := m.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` r WHERE r::text LIKE '%sender%'`).Scan(&hits); err != nil {
			t.Fatal(err)
		}
		if hits != 0 {
			t.Errorf("%s names the sender", table)
		}
	}
}

func TestRelayEnvelopesAreNotCompressed(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	m.mustSend("bob", string(bytes.Repeat([]byte("a"), 100_000)))
	var stored int
	if err := m.pool.QueryRow(t.Context(), `SELECT pg_column_size(envelope) FROM message`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if stored != 100_000 {
		t.Errorf("100000 bytes take %d", stored)
	}
}
