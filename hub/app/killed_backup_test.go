package app

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/pgtest"
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
		testkit.Until(t, "the killed check's database is gone with the next", func() bool {
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
		testkit.Until(t, "the restore is at an index", func() bool { return query[int](t, url, busy) > 0 })
		kill()
		// What psql had sent by then is worked through, an index every two seconds.
		testkit.Within(t, 5*time.Minute, "the session of the killed restore is over", func() bool {
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
