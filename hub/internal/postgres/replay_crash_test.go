package postgres

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
)

// What a real server keeps of the memory when it is stopped, and when it is
// killed.
func TestReplayOnAServerThatEnds(t *testing.T) {
	if err := embedpg.Installed(); err != nil {
		t.Fatalf("this story stops and kills a server of its own: %v", err)
	}
	dir, c := serverFolder(t), newClock()
	used, ahead := c.sign("a"), c.signAt("a", c.now().Add(replay.Lifetime))
	life := func(story func(r *Replay, kill func())) {
		s := serve(t, dir)
		defer func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		pool := poolOn(t, s.URL())
		defer pool.Close()
		story(newReplay(pool, c), func() { pgtest.Crash(t, dir, pool) })
	}
	life(func(r *Replay, _ func()) {
		wantReason(t, "first use", r.Remember(t.Context(), used), "")
		wantReason(t, "first use, dated ahead", r.Remember(t.Context(), ahead), "")
	})
	life(func(r *Replay, kill func()) {
		wantReason(t, "after a clean restart", r.Remember(t.Context(), used), "replayed")
		kill()
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.advance(2 * replay.Clocks)
		wantReason(t, "after a kill", r.Remember(t.Context(), used), "signed_before_restart")
		wantReason(t, "after a kill, dated ahead", r.Remember(t.Context(), ahead), "replayed")
		wantReason(t, "signed after the kill", r.Remember(t.Context(), c.sign("a")), "")
	})
}

func serverFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // the server's own user goes through it
		t.Fatal(err)
	}
	return filepath.Join(dir, "hub")
}

func serve(t *testing.T, dir string) *embedpg.Server {
	t.Helper()
	s, err := embedpg.Start(t.Context(), embedpg.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := migrations.Up(t.Context(), s.URL(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return s
}
