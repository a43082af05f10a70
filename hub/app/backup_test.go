package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

// killedAt makes the test binary an operator who backs up or checks, and comes no
// further than to a step: there it tells so and waits to be killed.
const killedAt = "APP_TEST_KILLED_AT"

func TestMain(m *testing.M) {
	if step := os.Getenv(killedAt); step != "" {
		fmt.Fprintln(os.Stderr, operateUntil(step, os.Getenv("APP_TEST_FILE")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func operateUntil(step, path string) error {
	ctx, cfg := context.Background(), Defaults()
	cfg.DatabaseURL = os.Getenv(EnvDatabaseURL)
	stop := func(what string, _, _ int64) {
		if what == step {
			fmt.Println("there")
			select {}
		}
	}
	if step == "restoring" {
		a, err := OpenArchive(path)
		if err != nil {
			return err
		}
		l, err := NewLanding(ctx, cfg, quiet)
		if err != nil {
			return err
		}
		return l.Restore(ctx, a, audit.By{}, func(what string, _, _ int64) {
			if what == step {
				fmt.Println("there")
			}
		})
	}
	op, err := NewOperator(ctx, cfg, quiet)
	if err != nil {
		return err
	}
	if step == "written" {
		_, err := op.BackupFile(ctx, path, false, true, audit.By{}, stop)
		return err
	}
	a, err := OpenArchive(path)
	if err != nil {
		return err
	}
	_, err = op.Check(ctx, a, audit.By{}, stop)
	return err
}

// operateAndKill starts such a process and gives a way to kill it.
func operateAndKill(t *testing.T, step, url, path string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedAt+"="+step, EnvDatabaseURL+"="+url, "APP_TEST_FILE="+path)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("it came to no %q: %q, %v", step, line, err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

func none(string, int64, int64) {}

// stocked is a hub with agents and mail, and its backup.
type stocked struct {
	*visitor
	url, file   string
	alice, bob  *directorytest.Node
	used        *http.Request // which the hub took once
	usedContent string
}

func newStocked(t *testing.T, mail bool) *stocked {
	t.Helper()
	s := &stocked{visitor: newVisitor(t), url: pgtest.URL(t), file: filepath.Join(t.TempDir(), "hub.backup")}
	a := startWith(t, s.url, func(*Config) {})
	s.base, s.hub = "http://"+a.Addr(), a.AID()
	s.alice, s.bob = s.joined("alice"), s.joined("bob")
	gone := s.joined("gone")
	s.call("200", gone, "/agents/"+gone.AID()+"/deregister", "{}")
	s.post("200", "/reviews", s.submission(gone, s.alice, nil))
	s.post("200", "/reviews", s.submission(s.bob, s.alice, nil))
	s.usedContent = text(letter(s.bob, s.bob, 10))
	s.used = s.opened(http.MethodPost, "/relay/send", s.usedContent)
	s.sign(s.alice, s.used, s.usedContent, s.now())
	s.expect("200", s.used)
	op := operator(t, s.url)
	if _, err := op.BackupFile(t.Context(), s.file, false, mail, audit.By{Who: "tester"}, none); err != nil {
		t.Fatal(err)
	}
	return s
}

func operator(t *testing.T, url string) *Operator {
	t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = url
	op, err := NewOperator(t.Context(), cfg, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { op.Close(context.Background()) })
	return op
}

func archive(t *testing.T, path string) *Archive {
	t.Helper()
	a, err := OpenArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func check(t *testing.T, url, path string) Verdict {
	t.Helper()
	v, err := operator(t, url).Check(t.Context(), archive(t, path), audit.By{}, none)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func restore(t *testing.T, url, path string, over bool) error {
	t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = url
	l, err := NewLanding(t.Context(), cfg, quiet)
	if err != nil {
		return err
	}
	defer l.Close(t.Context())
	if err := l.Free(over); err != nil {
		return err
	}
	return l.Restore(t.Context(), archive(t, path), audit.By{}, none)
}

// query asks a database for one value.
func query[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// A hub that was restored is the hub that was backed up: the same voice, the same
// agents. Nothing that was signed for the old one is taken again.
func TestRestoredHubGoesOn(t *testing.T) {
	for _, mail := range []bool{false, true} {
		t.Run(fmt.Sprint("mail ", mail), func(t *testing.T) {
			s := newStocked(t, mail)
			last := query[int64](t, s.url, `SELECT max(last_id) FROM mailbox`)
			url := pgtest.Empty(t)
			if err := restore(t, url, s.file, false); err != nil {
				t.Fatal(err)
			}
			again := *s
			a := start(t, url)
			if a.AID() != s.hub {
				t.Fatalf("it speaks as %s, want %s", a.AID(), s.hub)
			}
			again.base = "http://" + a.Addr()
			again.get("200", "/agents/"+s.alice.AID())
			if n := len(again.get("200", "/agents?cap=text.digest").body["agents"].([]any)); n != 2 {
				t.Errorf("%d agents are found, want 2", n)
			}
			// What is signed within Clocks of the restore is refused as well.
			testkit.Until(t, 10*time.Second, "the hub takes requests", func() bool {
				return again.do(again.signed(s.alice, "/relay/send", letter(s.bob, s.bob, 10))).status == http.StatusOK
			})
			replayed := again.opened(http.MethodPost, "/relay/send", s.usedContent)
			replayed.Header = s.used.Header.Clone()
			again.expect("401 signed_before_restart", replayed)
			waiting := again.call("200", s.bob, "/relay/poll", "").body["messages"].([]any)
			if want := map[bool]int{false: 1, true: 2}[mail]; len(waiting) != want {
				t.Fatalf("%d messages wait, want %d", len(waiting), want)
			}
			newest := waiting[len(waiting)-1].(map[string]any)["id"].(float64)
			if int64(newest) < last+time.Hour.Microseconds() || newest >= 1<<53 {
				t.Errorf("its id is %d, and %d was given before", int64(newest), last)
			}
		})
	}
}

// Beside a hub that serves, a backup is proven; the hub knows, and so do its
// metrics.
func TestBackupIsProven(t *testing.T) {
	s := newStocked(t, false)
	at := func() postgres.Moments {
		m, err := operator(t, s.url).Backups.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := at(); m.Taken.IsZero() || !m.Proven.IsZero() {
		t.Errorf("after the backup: %+v", m)
	}
	if v := check(t, s.url, s.file); !v.Proven || len(v.Wrong) > 0 || v.Rows["agent"] != 2 || v.Rows["member"] != 3 {
		t.Errorf("the verdict: %+v", v)
	}
	if m := at(); m.Proven.IsZero() || !m.Proven.Equal(m.Taken) {
		t.Errorf("after the check: %+v", m)
	}
	if left := query[int](t, s.url, `SELECT count(*) FROM pg_database d WHERE datname LIKE 'anet_scratch_' ||
		(SELECT oid FROM pg_database WHERE datname = current_database()) || '_%'`); left != 0 {
		t.Errorf("%d scratch databases are left", left)
	}
	testkit.Until(t, 30*time.Second, "the metric tells", func() bool {
		resp, err := http.Get(s.base + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		all, _ := io.ReadAll(resp.Body)
		return strings.Contains(string(all), "anet_hub_backup_proven_age_seconds") && !strings.Contains(string(all), "anet_hub_backup_proven_age_seconds +Inf")
	})
}

// A backup that restores can still hold a hub that is damaged.
func TestDamageIsFound(t *testing.T) {
	s := newStocked(t, true)
	tests := []struct{ damage, says string }{
		{`DELETE FROM agent_cap WHERE cap = 'text.digest' AND aid = '` + s.alice.AID() + `'`, "the capability index of agent " + s.alice.AID()},
		{`UPDATE member SET kel = (SELECT kel FROM member WHERE aid = '` + s.bob.AID() + `') WHERE aid = '` + s.alice.AID() + `'`, "is that of " + s.bob.AID()},
		{`UPDATE mailbox SET count = count + 1 WHERE aid = '` + s.bob.AID() + `'`, "miscount"},
		{`UPDATE review_total SET reviews = 1`, "reviews that are miscounted"},
		{`UPDATE review SET rating = 1 WHERE subject = '` + s.bob.AID() + `'`, "it is filed as another one"},
		{`INSERT INTO agent_keyset VALUES ('nobody', '\x00')`, "key sets of no agent"},
	}
	for i, tt := range tests {
		execute(t, s.url, tt.damage)
		file := fmt.Sprint(s.file, i)
		if _, err := operator(t, s.url).BackupFile(t.Context(), file, false, true, audit.By{}, none); err != nil {
			t.Fatal(err)
		}
		v := check(t, s.url, file)
		if said := strings.Join(v.Wrong, "\n"); v.Proven || !strings.Contains(said, tt.says) {
			t.Errorf("%s: it says %q, want %q", tt.damage, said, tt.says)
		}
	}
}

// Where anything is, nothing is restored; a hub that nobody registered at may
// have to make way.
func TestRestoreLeavesWhatIsThere(t *testing.T) {
	s := newStocked(t, false)
	foreign, unused := pgtest.Empty(t), pgtest.URL(t)
	execute(t, foreign, `CREATE TABLE somebody (s text)`)
	start(t, unused)
	if err := restore(t, unused, s.file, true); !errs.Is(err, "hub_is_running") {
		t.Errorf("under a hub that runs: %v", err)
	}
	idle := pgtest.URL(t)
	cfg := Defaults()
	cfg.DatabaseURL, cfg.Listen = idle, "127.0.0.1:0"
	makeHub(t, cfg)
	for _, tt := range []struct {
		why, url string
		over     bool
		want     string
	}{
		{"another's tables", foreign, true, "database_not_empty"},
		{"a hub nobody used", idle, false, "database_not_empty"},
		{"a hub nobody used, told so", idle, true, ""},
		{"a hub with members", idle, true, "database_not_empty"},
	} {
		if got := testkit.Reason(restore(t, tt.url, s.file, tt.over)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// makeHub starts a hub once and stops it.
func makeHub(t *testing.T, cfg Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a, err := New(ctx, cfg, quiet, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestKilledInTheMiddle(t *testing.T) {
	s := newStocked(t, true)
	folder := filepath.Dir(s.file)
	t.Run("a backup", func(t *testing.T) {
		next := filepath.Join(folder, "next")
		operateAndKill(t, "written", s.url, next)()
		if _, err := os.Stat(next); !os.IsNotExist(err) {
			t.Errorf("half a backup has its name: %v", err)
		}
		if _, err := operator(t, s.url).BackupFile(t.Context(), next, false, true, audit.By{}, none); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, ".next*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("a check", func(t *testing.T) {
		scratch := func() int {
			return query[int](t, s.url, `SELECT count(*) FROM pg_database d WHERE datname LIKE 'anet_scratch_' ||
				(SELECT oid FROM pg_database WHERE datname = current_database()) || '_%'`)
		}
		kill := operateAndKill(t, "checking key histories", s.url, s.file)
		if v := check(t, s.url, s.file); !v.Proven || scratch() != 1 {
			t.Errorf("beside another check: %+v, %d scratch databases", v, scratch())
		}
		kill()
		testkit.Until(t, 10*time.Second, "the killed check's database is gone with the next", func() bool {
			return check(t, s.url, s.file).Proven && scratch() == 0
		})
	})
	t.Run("a restore", func(t *testing.T) {
		url := pgtest.Empty(t)
		// Slow enough to be killed in: the first index takes its time.
		execute(t, url, `CREATE FUNCTION pg_temp_wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); END $$;
			CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION pg_temp_wait()`)
		kill := operateAndKill(t, "restoring", url, s.file)
		const busy = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
		testkit.Until(t, 20*time.Second, "the restore is at an index", func() bool { return query[int](t, url, busy) > 0 })
		kill()
		// What psql had sent by then is worked through, an index every two seconds.
		testkit.Until(t, 3*time.Minute, "the session of the killed restore is over", func() bool {
			return query[int](t, url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'anet-hub%'`) == 0
		})
		execute(t, url, `DROP EVENT TRIGGER slow; DROP FUNCTION pg_temp_wait()`)
		if n := query[int](t, url, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`); n != 0 {
			t.Errorf("the killed restore left %d tables and indexes", n)
		}
		if err := restore(t, url, s.file, false); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

// Through a pooler there is no session to hold a moment in.
func TestBackupPastAPooler(t *testing.T) {
	direct := pgtest.URL(t)
	cfg := Defaults()
	cfg.DatabaseURL, cfg.Listen = direct, "127.0.0.1:0"
	makeHub(t, cfg)
	cfg.DatabaseURL = pgtest.Pooler(t, direct, "")
	for want, url := range map[string]string{"database_pooled": "", "": direct} {
		cfg.DatabaseDirectURL = url
		op, err := NewOperator(t.Context(), cfg, quiet)
		if err != nil {
			t.Fatal(err)
		}
		defer op.Close(t.Context())
		_, err = op.BackupTo(t.Context(), io.Discard, false, audit.By{}, none)
		if got := testkit.Reason(err); got != want {
			t.Errorf("with the direct URL %q: %q, want %q", url, got, want)
		}
	}
}

// madeSince are the tables that a migration and those after it made.
func madeSince(t *testing.T, first string) (tables []string) {
	t.Helper()
	files, err := filepath.Glob("../../migrations/[0-9]*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) < first {
			continue
		}
		sql, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range regexp.MustCompile(`(?m)^CREATE (?:UNLOGGED )?TABLE (\w+)`).FindAllStringSubmatch(string(sql), -1) {
			tables = append(tables, made[1])
		}
	}
	return tables
}

// A schema from before there was a place for backups is backed up, proven and
// restored all the same, and nobody migrates it on the side.
func TestBackupOfAnOlderSchema(t *testing.T) {
	s := newStocked(t, false)
	execute(t, s.url, `DROP TABLE `+strings.Join(madeSince(t, "0050"), ", ")+` CASCADE; DELETE FROM goose_db_version WHERE version_id >= 50; DELETE FROM schema_compat WHERE version >= 50`)
	cfg := Defaults()
	cfg.DatabaseURL = s.url
	if _, err := NewOperator(t.Context(), cfg, quiet); !errs.Is(err, "schema_pending") {
		t.Errorf("another command: %v", err)
	}
	cfg.NoMigrate, cfg.Listen = true, "127.0.0.1:0"
	if _, err := New(t.Context(), cfg, quiet, prometheus.NewRegistry()); !errs.Is(err, "schema_pending") {
		t.Errorf("serve --no-migrate: %v", err)
	}
	op, err := AnySchema(t.Context(), cfg, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close(t.Context())
	file := s.file + "-older"
	m, err := op.BackupFile(t.Context(), file, false, false, audit.By{}, none)
	if err != nil || m.Schema >= 50 {
		t.Fatalf("the backup: schema %d, %v", m.Schema, err)
	}
	url := pgtest.Empty(t)
	if err := restore(t, url, file, false); err != nil {
		t.Fatal(err)
	}
	if v := check(t, url, file); !v.Proven {
		t.Errorf("checked where it was restored: %+v", v)
	}
	if m.Schema = 1 << 40; m.Fits(50, 99) == nil {
		t.Error("a newer schema fits")
	}
}
