package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

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
