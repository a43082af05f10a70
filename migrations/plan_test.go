package migrations_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
)

// heldSQL are the tables that were there before and that the transaction keeps
// others from writing, with the strongest of its locks; rewritten tables lie in
// another file than before.
const heldSQL = `
	SELECT c.relname, (array_agg(replace(replace(l.mode, 'Lock', ''), 'Exclusive', ' Exclusive') ORDER BY array_position(
		ARRAY['AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'], l.mode)))[1],
		c.relfilenode <> b.file
	FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN before b ON b.oid = c.oid
	WHERE l.pid = pg_backend_pid() AND l.mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
	GROUP BY c.relname, c.relfilenode, b.file ORDER BY c.relname`

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// A migration declares what it locks; here it is asked while it really runs.
func TestMigrationsLockWhatTheyDeclare(t *testing.T) {
	names := migrations.Versions(migrations.Files)
	before := fstest.MapFS{}
	url := pgtest.Empty(t)
	for _, version := range slices.Sorted(maps.Keys(names)) {
		name := names[version]
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		step := migrations.Read(version, name, string(text))
		if !step.InParts && len(before) > 0 {
			if got, want := held(t, url, string(text)), headers(step); got != want {
				t.Errorf("%s holds other locks than it declares. Held:\n%sDeclared:\n%sAdd lines such as -- locks: table MODE, moment|scan|rewrite", name, got, want)
			}
		}
		before[name] = &fstest.MapFile{Data: text}
		if err := migrations.UpTo(t.Context(), url, before, quiet()); err != nil {
			t.Fatal(err)
		}
	}
}

// held runs a step, reads its locks, and takes it back.
func held(t *testing.T, url, text string) string {
	t.Helper()
	conn := connect(t, url)
	exec1(t, conn, `CREATE TEMP TABLE before AS SELECT oid, relfilenode AS file FROM pg_class
		WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'goose%'`)
	exec1(t, conn, `BEGIN`)
	exec1(t, conn, text)
	rows, _ := conn.Query(t.Context(), heldSQL)
	var out strings.Builder
	var table, mode string
	var rewritten bool
	_, err := pgx.ForEachRow(rows, []any{&table, &mode, &rewritten}, func() error {
		work := "moment or scan"
		if rewritten {
			work = "rewrite"
		}
		fmt.Fprintf(&out, "-- locks: %s %s, %s\n", table, strings.ToUpper(capital.ReplaceAllString(mode, "$1 $2")), work)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	exec1(t, conn, `ROLLBACK`)
	return out.String()
}

// headers are the declarations as held sees them: whether a table was read does
// not show in its locks.
func headers(s migrations.Step) string {
	var lines []string
	for _, l := range s.Locks {
		work := "moment or scan"
		if l.Work == migrations.Rewrite {
			work = "rewrite"
		}
		lines = append(lines, fmt.Sprintf("-- locks: %s %s, %s\n", l.Table, l.Mode, work))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestPlan(t *testing.T) {
	url := pgtest.Empty(t)
	version, pending, err := migrations.Plan(t.Context(), url)
	if err != nil || version != 0 || len(pending) != len(migrations.Versions(migrations.Files)) {
		t.Fatalf("an empty database: version %d, %d steps, %v", version, len(pending), err)
	}
	if err := migrations.Up(t.Context(), url, quiet()); err != nil {
		t.Fatal(err)
	}
	if version, pending, err = migrations.Plan(t.Context(), url); err != nil || version != migrations.Latest() || len(pending) != 0 {
		t.Errorf("a migrated one: version %d, %d steps, %v", version, len(pending), err)
	}
}

func TestStepIsReadFromItsText(t *testing.T) {
	const text = "-- +goose Up\n-- locks: member ACCESS EXCLUSIVE, rewrite\n-- locks: agent SHARE, scan\n" +
		"INSERT INTO schema_compat (version, min_program) VALUES (9, 4);\n"
	s := migrations.Read(9, "0009_make_it.sql", text)
	if s.Serving != 4 || len(s.Locks) != 2 || s.Locks[0].Waits() != "readers and writers" || s.Locks[1].Waits() != "writers" {
		t.Errorf("read %+v", s)
	}
	s.Locks[0].Bytes = 200 << 20
	if d := s.Locks[0].Lasts(); d.Seconds() != 10 {
		t.Errorf("200 MiB rewritten take %s, want 10s", d)
	}
	if s := migrations.Read(9, "0009_make_it.sql", "-- +goose Up NO TRANSACTION"); s.Serving != 9 || !s.InParts {
		t.Errorf("a silent one: %+v", s)
	}
}
