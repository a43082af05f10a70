package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
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
	var cursor int64
	got := 0
	for end := time.Now().Add(30 * time.Second); got < senders*each && time.Now().Before(end); {
		for _, msg := range m.poll("bob", cursor) {
			if msg.ID <= cursor {
				t.Fatalf("id %d after %d", msg.ID, cursor)
			}
			cursor = msg.ID
			got++
		}
	}
	wg.Wait()
	if got != senders*each {
		t.Errorf("the poller saw %d of %d messages", got, senders*each)
	}
	m.wantExact("bob", senders*each)
}

// Checklist 41: the quota is exact under parallel sends, at two processes.
func TestRelayQuotaIsExact(t *testing.T) {
	tests := []struct {
		name   string
		limits relay.Limits
		want   int64
	}{
		{"by count", relay.Limits{Messages: 37, Bytes: 1 << 30}, 37},
		{"by bytes", relay.Limits{Messages: 5000, Bytes: 37*10 + 9}, 37},
	}
	url := pgtest.URL(t)
	procs := []*mailroom{newMailroom(t, poolOn(t, url)), newMailroom(t, poolOn(t, url))}
	for i, tt := range tests {
		to := fmt.Sprint("bob", i)
		procs[0].open(to)
		var accepted atomic.Int64
		var wg sync.WaitGroup
		for s := range 10 {
			wg.Go(func() {
				for range 10 {
					_, err := procs[s%2].send(to, "ten bytes.", tt.limits)
					if err == nil {
						accepted.Add(1)
					} else if !errs.Is(err, "mailbox_full") {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if accepted.Load() != tt.want {
			t.Errorf("%s: %d messages accepted, want %d", tt.name, accepted.Load(), tt.want)
		}
		procs[0].wantExact(to, tt.want)
	}
}

// What is dated further ahead than a crash of the database would cover is on
// disk before it is answered, whatever the request does.
func TestRelayRemembersWhatIsDatedAhead(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	register(t, m.pool, "bob", m.now())
	ctx, id := t.Context(), m.mustSend("bob", "hello")
	ahead := func() replay.Proof { return m.signAt("bob", m.now().Add(time.Minute)) }
	for n, use := range []func(replay.Proof) error{
		func(p replay.Proof) error {
			_, err := m.Enqueue(ctx, p, relay.Mail{To: "bob", Envelope: []byte("ahead"), At: m.now()}, roomy)
			return err
		},
		func(p replay.Proof) error { _, err := m.Poll(ctx, p, relay.Look{AID: "bob", Limit: 10}); return err },
		func(p replay.Proof) error { _, _, err := m.Ack(ctx, p, []int64{id}); return err },
	} {
		p := ahead()
		wantReason(t, "dated ahead", use(p), "")
		wantReason(t, "dated ahead, twice", use(p), "replayed")
		if got := rows(t, m.pool, "replay_ahead"); got != n+1 {
			t.Errorf("%d requests dated ahead are on disk, want %d", got, n+1)
		}
	}
}

func TestRelayQuotaIsFreedByAck(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	one := relay.Limits{Messages: 1, Bytes: 100}
	id, err := m.send("bob", "x", one)
	wantReason(t, "first", err, "")
	_, err = m.send("bob", "x", one)
	wantReason(t, "second", err, "mailbox_full")
	m.ack("bob", id)
	_, err = m.send("bob", "x", one)
	wantReason(t, "after the ack", err, "")
}

// Counters stay exact while mail comes, is acknowledged twice at once, and expires.
func TestRelayCountersStayExact(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	m.mustSend("bob", "old")
	old := m.now().Add(time.Second)
	m.advance(time.Minute)
	var wg sync.WaitGroup
	ids := make(chan int64, 400)
	for range 4 {
		wg.Go(func() {
			for range 50 {
				id := m.mustSend("bob", string(make([]byte, 1+rand.IntN(3000))))
				ids <- id
				ids <- id // acknowledged by two pollers
			}
		})
	}
	var acked atomic.Int64
	for range 4 {
		wg.Go(func() {
			for range 90 {
				acked.Add(m.ack("bob", <-ids))
			}
		})
	}
	wg.Go(func() {
		if _, _, err := m.Expire(context.Background(), old); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	m.wantExact("bob", 200-acked.Load())
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

func TestRelayRecipients(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	_, err := m.send("stranger", "x", roomy)
	wantReason(t, "never registered", err, "not_here")
	first := m.mustSend("bob", "x")
	m.mustSend("bob", "y")
	if n := m.shut("bob"); n != 2 {
		t.Errorf("undelivered = %d, want 2", n)
	}
	_, err = m.send("bob", "x", roomy)
	wantReason(t, "deregistered", err, "not_here")
	m.open("bob")
	if next := m.mustSend("bob", "z"); next <= first+1 {
		t.Errorf("id %d was given out again after %d", next, first+1)
	}
	m.wantExact("bob", 1)
}

// An agent leaves while others send to it: nothing stays behind uncounted.
func TestRelayDepartureAmongSends(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	for range 20 {
		var stored, undelivered atomic.Int64
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 5 {
					if _, err := m.send("bob", "x", roomy); err == nil {
						stored.Add(1)
					} else if !errs.Is(err, "not_here") {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() { undelivered.Add(m.shut("bob")) })
		wg.Wait()
		if stored.Load() != undelivered.Load() {
			t.Fatalf("%d messages were stored, %d went with the mailbox", stored.Load(), undelivered.Load())
		}
		m.wantExact("bob", 0)
		m.open("bob")
	}
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

func TestRelayExpiry(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob", "carol")
	for i := range 1500 {
		to := "bob"
		if i%3 == 0 {
			to = "carol"
		}
		m.mustSend(to, "old")
	}
	m.advance(time.Hour)
	m.mustSend("bob", "new")
	var expired, size int64
	for {
		n, bytes, err := m.Expire(t.Context(), m.now().Add(-time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		expired, size = expired+n, size+bytes
	}
	if expired != 1500 || size != 3*1500 {
		t.Errorf("%d messages with %d bytes expired, want 1500 with 4500", expired, size)
	}
	m.wantExact("bob", 1)
	m.wantExact("carol", 0)
	total, err := m.Totals(t.Context())
	if err != nil || total != (relay.Totals{Messages: 1, Bytes: 3, Mailboxes: 1}) {
		t.Errorf("Totals = %+v, %v", total, err)
	}
}

func TestRelayExpiryRunsOnce(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob")
	m.mustSend("bob", "old")
	errStop := errors.New("stop")
	_, err := exclusively(t.Context(), m.pool, lockExpiry, func(pgx.Tx) error {
		if n, _, err := m.Expire(t.Context(), m.now().Add(time.Hour)); n != 0 || err != nil {
			t.Errorf("a second process expired %d messages, %v", n, err)
		}
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Error(err)
	}
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

func TestRelayTellsWhenTheRecipientWasSeen(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob", "carol")
	seen, since := m.now().Add(-2*time.Hour), m.now().Add(-3*time.Hour)
	for _, aid := range []string{"bob", "carol"} {
		register(t, m.pool, aid, since)
	}
	if _, err := m.pool.Exec(t.Context(), `INSERT INTO agent_seen (aid, last_seen) VALUES ('bob', $1), ('carol', NULL)`, seen); err != nil {
		t.Fatal(err)
	}
	for aid, want := range map[string]time.Time{"bob": seen, "carol": since} {
		q, err := m.Enqueue(t.Context(), m.sign("a"), relay.Mail{To: aid, Envelope: []byte("x"), At: m.now()}, roomy)
		if err != nil || !q.LastSeen.Equal(want) {
			t.Errorf("%s was seen at %v, %v, want %v", aid, q.LastSeen, err, want)
		}
	}
}

// register writes the rows of a registered agent.
func register(t testing.TB, pool *pgxpool.Pool, aid string, at time.Time) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), `INSERT INTO member (aid, kel, first_seen_at) VALUES ($1, '', $2)`, aid, at); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(context.Background(), `
		INSERT INTO agent (aid, name, tags, registered_at, listed, view, search)
		VALUES ($1, '', '{}', $2, false, '', '')`, aid, at); err != nil {
		t.Fatal(err)
	}
}

// A poll that waits is handed a message that is alone, so this must be exact.
func TestRelayTellsWhatIsAlone(t *testing.T) {
	m := newMailroom(t, pgtest.New(t), "bob", "eve")
	first := m.mustSend("bob", "one")
	second := m.mustSend("bob", "two")
	for _, tt := range []struct {
		what string
		do   func()
		to   string
		want bool
	}{
		{"in another mailbox", func() {}, "eve", true},
		{"beside others", func() {}, "bob", false},
		{"when two of three were acknowledged", func() { m.ack("bob", first, second) }, "bob", false},
		{"when the mailbox was emptied", func() { m.shut("bob"); m.open("bob") }, "bob", true},
	} {
		tt.do()
		q, err := m.Enqueue(t.Context(), m.sign("sender"), relay.Mail{To: tt.to, Envelope: []byte("x"), At: m.now()}, roomy)
		if err != nil || q.Alone != tt.want {
			t.Errorf("%s: alone = %v, %v; want %v", tt.what, q.Alone, err, tt.want)
		}
	}
}
