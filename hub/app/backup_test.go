package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

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
