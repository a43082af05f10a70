package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
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
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if now, err := started(); err == nil && now != before {
			return
		}
		if time.Now().After(end) {
			t.Fatal("pgtest: the server is not back within 20 s")
		}
	}
}
