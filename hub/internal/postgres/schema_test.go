package postgres

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
)

func TestAProcessNoticesThatItIsLeftBehind(t *testing.T) {
	pool := pgtest.New(t)
	s := NewSchema(pool, slog.New(slog.DiscardHandler))
	if err := s.Served(t.Context()); err != nil {
		t.Errorf("on its own schema: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, migrations.Latest()+1); err != nil {
		t.Fatal(err)
	}
	if err := s.Served(t.Context()); !errs.Is(err, "schema_newer") {
		t.Errorf("after a migration for newer programs: %v, want schema_newer", err)
	}
}

func TestBeingLeftBehindIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	s := NewSchema(nil, slog.New(slog.NewTextHandler(&log, nil)))
	newer, away := errs.New(errs.Unavailable, "schema_newer", "newer"), context.DeadlineExceeded
	told := false
	for i, step := range []struct {
		err   error
		lines int
	}{{nil, 0}, {away, 0}, {newer, 1}, {newer, 1}, {away, 1}, {newer, 1}, {nil, 1}, {newer, 2}} {
		told = s.tell(step.err, told)
		if n := bytes.Count(log.Bytes(), []byte("not ready any more")); n != step.lines {
			t.Errorf("after step %d (%v) the log says it %d times, want %d", i, step.err, n, step.lines)
		}
	}
}
