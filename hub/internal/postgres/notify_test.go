package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
)

func dialTo(url string) Dial {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			return nil, err
		}
		config.RuntimeParams["application_name"] = "board"
		return pgx.ConnectConfig(ctx, config)
	}
}

func TestPayloads(t *testing.T) {
	b := NewBus(nil, nil)
	var aids []string
	for i := range 500 {
		aids = append(aids, fmt.Sprintf("bafyreib%050d", i))
	}
	payloads := b.payloads(wake.News{AIDs: aids})
	var got []string
	for _, p := range payloads {
		if len(p) >= 8000 {
			t.Errorf("a payload has %d bytes, PostgreSQL takes less than 8000", len(p))
		}
		n, foreign := NewBus(nil, nil).parse(p)
		if !foreign || n.All {
			t.Errorf("parse = %v, foreign %v", n.All, foreign)
		}
		got = append(got, n.AIDs...)
	}
	if !slices.Equal(got, aids) {
		t.Errorf("%d AIDs arrive of %d", len(got), len(aids))
	}
	if len(payloads) > 4 {
		t.Errorf("%d payloads for 500 AIDs: not batched", len(payloads))
	}
	if n, _ := b.parse(b.payloads(wake.News{All: true})[0]); !n.All {
		t.Error("the word for everything does not arrive")
	}
	if _, foreign := b.parse(payloads[0]); foreign {
		t.Error("a process takes its own news for another's")
	}
}

// process is a board on the database, as one hub process has it.
func process(t *testing.T, url string) *wake.Board {
	t.Helper()
	pool := poolOn(t, url)
	bus := NewBus(dialTo(url), pool)
	b := wake.NewBoard(NewRelay(pool, nil), bus, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Run(ctx) })
	t.Cleanup(func() { stop(); wg.Wait(); bus.Close() })
	return b
}

// listeners are the sessions in which LISTEN is over, and so in force.
func listeners(t *testing.T, pool *pgxpool.Pool) (pids []int) {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		SELECT pid FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'board' AND state = 'idle' AND (query LIKE 'LISTEN%' OR query = '-- ping')`)
	if err != nil {
		t.Fatal(err)
	}
	pids, err = pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// woken waits for longer than a board takes to look by itself: mail has to be hidden
// from that, or not be there at all.
func woken(t *testing.T, w *wake.Waiter) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return w.Next(ctx)
}

// settled lets a board that has just begun to listen have its look at everything.
func settled(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	testkit.Until(t, fmt.Sprintf("%d processes listen", n), func() bool { return len(listeners(t, pool)) == n })
}

func TestWakeAcrossProcesses(t *testing.T) {
	url := pgtest.URL(t)
	one, two := process(t, url), process(t, url)
	settled(t, poolOn(t, url), 2)
	w := two.Wait(wake.Place{AID: "bob"})
	defer w.Stop()
	one.Wake("bob")
	if !woken(t, w) {
		t.Fatal("a poll at another process was not woken")
	}
}

func TestWakeAfterTheListenerWasLost(t *testing.T) {
	url := pgtest.URL(t)
	pool, b := poolOn(t, url), process(t, url)
	settled(t, pool, 1)
	w := b.Wait(wake.Place{AID: "bob"})
	defer w.Stop()
	lost := listeners(t, pool)
	if _, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid`, lost); err != nil {
		t.Fatal(err)
	}
	// Mail of a process whose word nobody can hear now.
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO message (to_aid, id, size, created_at, envelope) VALUES ('bob', 7, 1, '2026-01-01Z', 'x')`); err != nil {
		t.Fatal(err)
	}
	if !woken(t, w) {
		t.Fatal("mail that came while nobody listened was not found")
	}
	testkit.Until(t, "it listens anew", func() bool {
		now := listeners(t, pool)
		return len(now) == 1 && now[0] != lost[0]
	})
	one := process(t, url)
	settled(t, pool, 2)
	other := b.Wait(wake.Place{AID: "carol"})
	defer other.Stop()
	one.Wake("carol")
	if !woken(t, other) {
		t.Error("nothing is heard on the new connection")
	}
}

func TestWakeBehindAPooler(t *testing.T) {
	pool := pgtest.New(t)
	bus := NewBus(func(context.Context) (*pgx.Conn, error) { return nil, errPooled }, pool)
	if err := bus.Hear(t.Context(), func() { t.Error("ready") }, nil); err != wake.ErrDeaf {
		t.Errorf("Hear = %v, want ErrDeaf", err)
	}
	if err := bus.Tell(t.Context(), wake.News{AIDs: []string{"bob"}}); err != nil {
		t.Errorf("Tell = %v; telling needs no session", err)
	}
}

func TestWithMail(t *testing.T) {
	pool := pgtest.New(t)
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		VALUES ('a', 5, 1, '2026-01-01Z', 'x'), ('a', 6, 1, '2026-01-01Z', 'x'), ('b', 9, 1, '2026-01-01Z', 'x')`); err != nil {
		t.Fatal(err)
	}
	got, err := NewRelay(pool, nil).WithMail(t.Context(), []wake.Place{{AID: "a", After: 5}, {AID: "b", After: 9}, {AID: "c"}})
	if err != nil || strings.Join(got, " ") != "a" {
		t.Errorf("WithMail = %v, %v, want a alone", got, err)
	}
}
