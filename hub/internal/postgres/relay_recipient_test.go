package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

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
