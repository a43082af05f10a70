package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/shared/testkit"
)

// Crash ends the private server of a data folder the hard way, and waits until
// the pool reaches its successor.
func Crash(t testing.TB, dataDir string, pool *pgxpool.Pool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dataDir, "postgres", "postmaster.pid"))
	must(t, err)
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(line)
	must(t, err)
	if pid <= 1 {
		t.Fatalf("no process in postmaster.pid: %q", line)
	}
	started := func() (at string, err error) {
		err = pool.QueryRow(t.Context(), `SELECT pg_postmaster_start_time()::text`).Scan(&at)
		return at, err
	}
	before, err := started()
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	testkit.Until(t, "the server is back", func() bool {
		now, err := started()
		return err == nil && now != before
	})
}
