package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Date(2026, 6, 1, 12, 0, 30, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(d.Milliseconds()) }

// sign makes a request nobody made before.
func (c *clock) sign(aid string) replay.Proof { return c.signAt(aid, c.now()) }

func (c *clock) signAt(aid string, at time.Time) replay.Proof {
	p := replay.Proof{AID: aid, SignedAt: at}
	_, _ = rand.Read(p.Key[:]) // never fails
	return p
}

func newReplay(pool *pgxpool.Pool, c *clock) *Replay {
	return NewReplay(pool, replay.BoundsFor(20, 200), c.now, slog.New(slog.DiscardHandler))
}

func wantReason(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := testkit.Reason(err); got != want {
		t.Errorf("%s: %q (%v), want %q", what, got, err, want)
	}
}

// crash does what a crash of the server does to unlogged tables.
func crash(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), `TRUNCATE replay, replay_epoch, replay_count`); err != nil {
		t.Fatal(err)
	}
}

func rows(t *testing.T, pool *pgxpool.Pool, table string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func nothing(pgx.Tx) error { return nil }

// Checklist 10: single use.
func TestReplaySingleUse(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	p, other := c.sign("a"), c.sign("a")
	wantReason(t, "first use", r.Remember(t.Context(), p), "")
	wantReason(t, "second use", r.Remember(t.Context(), p), "replayed")
	wantReason(t, "second use with an effect", r.Once(t.Context(), p, nothing), "replayed")
	wantReason(t, "another signature", r.Once(t.Context(), other, nothing), "")
	c.advance(replay.Lifetime - time.Second)
	wantReason(t, "just before it expires", r.Remember(t.Context(), p), "replayed")
}

// Checklist 10: once for all processes on one database.
func TestReplaySingleUseAcrossProcesses(t *testing.T) {
	url, c := pgtest.URL(t), newClock()
	procs := []*Replay{newReplay(poolOn(t, url), c), newReplay(poolOn(t, url), c)}
	for range 50 {
		p := c.sign("a")
		var ok atomic.Int32
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if err := procs[i%2].Once(context.Background(), p, nothing); err == nil {
					ok.Add(1)
				} else if !errs.Is(err, "replayed") {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if ok.Load() != 1 {
			t.Fatalf("one signature was used %d times", ok.Load())
		}
	}
}

func poolOn(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A proof names the history its signature was checked against. It counts only
// where that is the one on record, and is checked again where it is not.
func TestReplayConfirmsTheSigner(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	register(t, pool, "a", c.now())
	onRecord := func(kel string) {
		if _, err := pool.Exec(t.Context(), `UPDATE member SET kel = $1`, []byte(kel)); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	under := func(kel string, good bool) replay.Proof {
		p, sum := c.sign("a"), sha256.Sum256([]byte(kel))
		p.Under = sum[:]
		p.Again = func(now []byte) (replay.Proof, error) {
			asked++
			if !good {
				return p, errs.New(errs.Unauthorized, "bad_signature", "")
			}
			again, sum := p, sha256.Sum256(now)
			again.Under = sum[:]
			return again, nil
		}
		return p
	}
	for _, tt := range []struct {
		name, record, under string
		good                bool
		want                string
		asked               int
	}{
		{"the one on record", "v1", "v1", false, "", 0},
		{"an older one, and the new one bears it out", "v2", "v1", true, "", 1},
		{"an older one, and the new one does not", "v2", "v1", false, "bad_signature", 1},
	} {
		onRecord(tt.record)
		for how, use := range map[string]func(replay.Proof) error{
			"alone":          func(p replay.Proof) error { return r.Remember(t.Context(), p) },
			"with an effect": func(p replay.Proof) error { return r.Once(t.Context(), p, nothing) },
		} {
			asked = 0
			p := under(tt.under, tt.good)
			wantReason(t, tt.name+", "+how, use(p), tt.want)
			if asked != tt.asked {
				t.Errorf("%s, %s: checked again %d times, want %d", tt.name, how, asked, tt.asked)
			}
			if tt.want == "" {
				wantReason(t, tt.name+", "+how+", twice", use(p), "replayed")
			}
		}
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM agent`); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "after the signer left", r.Remember(t.Context(), under("v2", true)), "unknown_signer")
	wantReason(t, "a registration, whose history comes with it", r.Remember(t.Context(), c.sign("a")), "")
}

func TestReplayFailedEffectLeavesTheProof(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := NewReplay(pool, replay.Bounds{PerSigner: 1, Total: 10}, c.now, slog.New(slog.DiscardHandler))
	p, failed := c.sign("a"), errors.New("no")
	if err := r.Once(t.Context(), p, func(pgx.Tx) error { return failed }); !errors.Is(err, failed) {
		t.Fatalf("Once = %v, want the effect's error", err)
	}
	wantReason(t, "the same request again", r.Once(t.Context(), p, nothing), "")
	wantReason(t, "at the bound", r.Once(t.Context(), c.sign("a"), nothing), "replay_memory_full")
}

func TestReplayAfterCrash(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	used, unused, ahead := c.sign("a"), c.sign("a"), c.signAt("a", c.now().Add(4*time.Minute))
	wantReason(t, "before the crash", r.Remember(t.Context(), used), "")
	wantReason(t, "before the crash, dated ahead", r.Remember(t.Context(), ahead), "")

	crash(t, pool)
	c.advance(time.Second)
	wantReason(t, "before the loss is noticed", r.Remember(t.Context(), c.sign("a")), "replay_memory_restarting")
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "while signers' clocks may be ahead", r.Remember(t.Context(), c.sign("a")), "replay_memory_restarting")
	c.advance(replay.Clocks)
	wantReason(t, "signed afterwards", r.Remember(t.Context(), c.sign("a")), "")
	wantReason(t, "used before the crash", r.Remember(t.Context(), used), "signed_before_restart")
	wantReason(t, "signed before the crash", r.Remember(t.Context(), unused), "signed_before_restart")
	wantReason(t, "dated ahead and used before the crash", r.Remember(t.Context(), ahead), "replayed")
}

func TestReplayCleanRestartForgetsNothing(t *testing.T) {
	url, c := pgtest.URL(t), newClock()
	p := c.sign("a")
	wantReason(t, "first process", newReplay(poolOn(t, url), c).Remember(t.Context(), p), "")
	next := newReplay(poolOn(t, url), c)
	if err := next.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "next process, used", next.Remember(t.Context(), p), "replayed")
	wantReason(t, "next process, signed before its start", next.Remember(t.Context(), c.sign("a")), "")
}

func TestReplayRunNoticesTheLoss(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.Run(ctx) })
	defer wg.Wait()
	defer stop()
	crash(t, pool)
	wantReason(t, "lost", r.Remember(ctx, c.sign("a")), "replay_memory_restarting")
	testkit.Until(t, "the memory begins anew", func() bool { return rows(t, pool, "replay_epoch") == 1 })
}

// A minute is dropped whole once it is over, and no live one before.
func TestReplayDropsWhatIsOver(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	proofs := []replay.Proof{
		c.signAt("a", c.now().Add(-replay.Lifetime+time.Second)),
		c.sign("a"),
		c.signAt("a", c.now().Add(replay.Lifetime)),
	}
	for _, p := range proofs {
		wantReason(t, "first use", r.Remember(t.Context(), p), "")
	}
	for range 16 {
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range proofs {
			if p.Expires().After(c.now()) {
				wantReason(t, "live entry", r.Remember(t.Context(), p), "replayed")
			}
		}
		c.advance(time.Minute)
	}
	for _, table := range []string{"replay", "replay_ahead", "replay_count"} {
		if n := rows(t, pool, table); n != 0 {
			t.Errorf("after the horizon %d rows are left in %s", n, table)
		}
	}
}

// A backup reads every table for as long as it takes. What is over waits in its
// partition meanwhile; the rest of the upkeep, and a hub that starts, do not.
func TestReplayUpkeepBesideABackup(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Remember(t.Context(), c.sign("alice")); err != nil {
		t.Fatal(err)
	}
	if err := r.shareCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	backup, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Rollback(t.Context())
	if _, err := backup.Exec(t.Context(), `LOCK TABLE replay IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	c.advance(replay.Lifetime + 3*time.Minute)
	if err := r.Sweep(t.Context()); err != nil {
		t.Errorf("beside a backup: %v", err)
	}
	if kept, counted := rows(t, pool, "replay"), rows(t, pool, "replay_count"); kept != 1 || counted != 0 {
		t.Errorf("%d entries and %d counts are left, want the entry alone", kept, counted)
	}
}

// Checklist 10: the bound of one signer counts what it did at other processes.
func TestReplayBoundAcrossProcesses(t *testing.T) {
	url, c := pgtest.URL(t), newClock()
	bounds, log := replay.Bounds{PerSigner: 3, Total: 100}, slog.New(slog.DiscardHandler)
	one := NewReplay(poolOn(t, url), bounds, c.now, log)
	two := NewReplay(poolOn(t, url), bounds, c.now, log)
	for _, r := range []*Replay{one, two, two} {
		wantReason(t, "below the bound", r.Remember(t.Context(), c.sign("a")), "")
	}
	for _, r := range []*Replay{one, two, one} {
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantReason(t, "at the other process", two.Remember(t.Context(), c.sign("a")), "replay_memory_full")
	c.advance(replay.Lifetime + time.Minute)
	wantReason(t, "after they expired", two.Remember(t.Context(), c.sign("a")), "")
}
