package migrations_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

// slowURL makes the test binary a process that migrates slowly and can be killed.
const slowURL = "MIGRATIONS_TEST_SLOW_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(slowURL); url != "" {
		fmt.Fprintln(os.Stderr, migrations.UpTo(context.Background(), url, slow, slog.Default()))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// slow has a second step that takes long enough to be killed in.
var slow = steps(`CREATE TABLE one (n int)`, `CREATE TABLE two (n int); INSERT INTO two SELECT 1 FROM pg_sleep(60)`)

func TestManyProcessesOnAnEmptyDatabase(t *testing.T) {
	url := pgtest.Empty(t)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := migrations.Up(t.Context(), url, quiet()); err != nil {
				t.Errorf("Up: %v", err)
			}
		})
	}
	wait.Wait()
	known := len(migrations.Versions(migrations.Files))
	if got := ask[int](t, url, `SELECT count(*) FROM goose_db_version WHERE version_id > 0`); got != known {
		t.Errorf("%d steps were applied, want %d, each once", got, known)
	}
}

// A migration says which older programs may go on serving. One that says nothing
// is for programs that know it.
func TestOlderProgramOnANewerSchema(t *testing.T) {
	const table = `CREATE TABLE schema_compat (version bigint PRIMARY KEY, min_program bigint NOT NULL)`
	says := func(version, oldest int) string {
		return fmt.Sprintf(`INSERT INTO schema_compat (version, min_program) VALUES (%d, %d)`, version, oldest)
	}
	const silent = `CREATE TABLE more (n int)`
	tests := []struct {
		name  string
		newer []string // after the two steps the program knows
		want  string   // of the refusal, empty where it serves
	}{
		{"nothing newer", nil, ""},
		{"a silent one", []string{silent}, "version 3, for programs that know version 3 or later, and this program knows versions up to 2"},
		{"one for this program", []string{says(3, 2)}, ""},
		{"one for programs older still", []string{says(3, 1)}, ""},
		{"one for newer programs", []string{says(3, 2), says(4, 3)}, "version 4, for programs that know version 3 or later, and this program knows versions up to 2"},
		{"a silent one between", []string{silent, says(4, 2)}, "version 3, for programs that know version 3 or later"},
		{"two for this program", []string{says(3, 2), says(4, 2)}, ""},
	}
	known := steps(table, `CREATE TABLE two (n int)`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := pgtest.Empty(t)
			newer := steps(append([]string{table, `CREATE TABLE two (n int)`}, tt.newer...)...)
			if err := migrations.UpTo(t.Context(), url, newer, quiet()); err != nil {
				t.Fatal(err)
			}
			err := migrations.UpTo(t.Context(), url, known, quiet())
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("it says %v, want it to serve", err)
			case tt.want != "" && (!errs.Is(err, "schema_newer") || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("it says %v, want schema_newer with %q", err, tt.want)
			}
		})
	}
}

func TestSecondProcessWaitsAndSaysSo(t *testing.T) {
	url := pgtest.Empty(t)
	other := connect(t, url)
	exec1(t, other, fmt.Sprintf(`SELECT pg_advisory_lock(%d)`, migrations.LockKey))
	said, done := newSignal("waiting for it"), make(chan error)
	go func() { done <- migrations.Up(t.Context(), url, slog.New(slog.NewTextHandler(said, nil))) }()
	<-said.seen
	exec1(t, other, fmt.Sprintf(`SELECT pg_advisory_unlock(%d)`, migrations.LockKey))
	if err := <-done; err != nil {
		t.Errorf("Up after the wait: %v", err)
	}
}

func TestRunningIsKnownByTheLock(t *testing.T) {
	url := pgtest.Empty(t)
	other := connect(t, url)
	for _, tt := range []struct {
		then string
		want bool
	}{
		{`SELECT 1`, false},
		{`SELECT pg_advisory_lock(%d)`, true},
		{`SELECT pg_advisory_unlock(%d)`, false},
	} {
		exec1(t, other, strings.Replace(tt.then, "%d", strconv.FormatInt(migrations.LockKey, 10), 1))
		if running, err := migrations.Running(t.Context(), url); err != nil || running != tt.want {
			t.Errorf("after %s: running = %v, %v, want %v", tt.then, running, err, tt.want)
		}
	}
	if running, err := migrations.Running(t.Context(), pgtest.Empty(t)); err != nil || running {
		t.Errorf("another database: running = %v, %v", running, err)
	}
}

func TestStepThatCannotHaveItsTableIsTriedAgain(t *testing.T) {
	url := pgtest.Empty(t)
	first := steps(`CREATE TABLE busy (n int)`)
	if err := migrations.UpTo(t.Context(), url, first, quiet()); err != nil {
		t.Fatal(err)
	}
	reader := connect(t, url)
	exec1(t, reader, `BEGIN`)
	exec1(t, reader, `SELECT * FROM busy`)
	said, done := newSignal("trying again"), make(chan error)
	second := steps(`CREATE TABLE busy (n int)`, `ALTER TABLE busy ADD COLUMN m int`)
	go func() { done <- migrations.UpTo(t.Context(), url, second, slog.New(slog.NewTextHandler(said, nil))) }()
	<-said.seen
	exec1(t, reader, `COMMIT`)
	if err := <-done; err != nil {
		t.Errorf("Up beside a reader: %v", err)
	}
}

func TestKillInTheMiddleOfAStep(t *testing.T) {
	url := pgtest.Empty(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), slowURL+"="+url)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const atWork = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%' AND wait_event = 'PgSleep'`
	testkit.Until(t, "the second step is at work", func() bool { return ask[int](t, url, atWork) > 0 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	quick := steps(`CREATE TABLE one (n int)`, `CREATE TABLE two (n int)`)
	if err := migrations.UpTo(t.Context(), url, quick, quiet()); err != nil {
		t.Errorf("Up after the kill: %v", err)
	}
	if n := ask[int](t, url, `SELECT count(*) FROM two`); n != 0 {
		t.Errorf("the killed step left %d rows", n)
	}
}

// TestStepsKeepTheRules holds the files to what their package comment says.
func TestStepsKeepTheRules(t *testing.T) {
	name := regexp.MustCompile(`^\d{4}_[a-z]+_[a-z0-9_]+\.sql$`)
	compat := regexp.MustCompile(`INSERT INTO schema_compat \(version, min_program\) VALUES \((\d+), \d+\)`)
	for version, file := range migrations.Versions(migrations.Files) {
		text, err := fs.ReadFile(migrations.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		if says := compat.FindSubmatch(text); says != nil && string(says[1]) != fmt.Sprint(version) {
			t.Errorf("%s speaks for version %s", file, says[1])
		}
		switch {
		case !name.MatchString(file):
			t.Errorf("step %d: %q is not NNNN_verb_noun.sql", version, file)
		case bytes.Contains(text, []byte("+goose Down")):
			t.Errorf("%s goes back; steps go forward only", file)
		case bytes.Contains(text, []byte("NO TRANSACTION")) && !bytes.Contains(text, []byte("DROP INDEX CONCURRENTLY IF EXISTS")):
			t.Errorf("%s runs without a transaction and cannot be run again after a kill: drop the half-built index first", file)
		case bytes.Contains(text, []byte("CONCURRENTLY")) && !bytes.Contains(text, []byte("NO TRANSACTION")):
			t.Errorf("%s builds an index concurrently inside a transaction", file)
		}
	}
}

// steps makes migrations out of statements, numbered from one.
func steps(statements ...string) fs.FS {
	files := fstest.MapFS{}
	for i, s := range statements {
		files[fmt.Sprintf("%04d_make_it.sql", i+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + s + ";\n")}
	}
	return files
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec1(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	conn := connect(t, url)
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// signal is a log that tells when a line was written to it.
type signal struct {
	words string
	seen  chan struct{}
	once  sync.Once
}

func newSignal(words string) *signal { return &signal{words: words, seen: make(chan struct{})} }

func (s *signal) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(s.words)) {
		s.once.Do(func() { close(s.seen) })
	}
	return len(line), nil
}
