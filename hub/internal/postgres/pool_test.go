package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
)

func TestEverySessionHasALimitAndAName(t *testing.T) {
	db := openDB(t, Options{URL: pgtest.URL(t), StatementTimeout: 61_234 * time.Millisecond, AppName: "anet-hub test"})
	direct, err := db.Direct(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(t.Context())
	for name, q := range map[string]querier{"pool": db.Pool, "direct": direct} {
		if got := show(t, q, "statement_timeout"); got != "61234ms" {
			t.Errorf("%s: statement_timeout = %s, want 61234ms", name, got)
		}
		if got := show(t, q, "application_name"); got != "anet-hub test" {
			t.Errorf("%s: application_name = %s, want anet-hub test", name, got)
		}
	}
}

func TestUnreadableURLIsNotRepeated(t *testing.T) {
	for _, bad := range []string{"postgres://u:geheim@host:port/db", "geheim", "host=x password=geheim port=none"} {
		for what, err := range map[string]error{
			"Open":    second(Open(t.Context(), Options{URL: bad})),
			"Migrate": Migrate(t.Context(), bad, quiet()),
		} {
			if err == nil || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%s(%q) = %v, want a refusal without the secret", what, bad, err)
			}
		}
	}
}

func TestWrongPasswordIsNotRepeated(t *testing.T) {
	_, err := Open(t.Context(), Options{URL: "postgres://anet:geheim@127.0.0.1:1/anet"})
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("Open = %v, want a failure without the secret", err)
	}
}

func TestForeignEncodingIsRefused(t *testing.T) {
	admin, err := pgx.Connect(t.Context(), pgtest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	name := "anet_test_latin_" + strconv.Itoa(os.Getpid())
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		_ = admin.Close(context.Background())
	})
	_, err = Open(t.Context(), Options{URL: sibling(t, admin.Config().ConnString(), name)})
	if !errs.Is(err, "database_encoding") {
		t.Errorf("Open = %v, want database_encoding", err)
	}
}

func TestBehindAPooler(t *testing.T) {
	direct := pgtest.Empty(t)
	through := pgtest.Pooler(t, direct, "")
	if err := Migrate(t.Context(), through, quiet()); !errs.Is(err, "database_pooled") {
		t.Errorf("Migrate through the pooler = %v, want database_pooled", err)
	}
	if err := Migrate(t.Context(), direct, quiet()); err != nil {
		t.Fatalf("Migrate past the pooler: %v", err)
	}
	if err := Migrate(t.Context(), through, quiet()); err != nil {
		t.Errorf("Migrate through the pooler with nothing to do = %v, want nil", err)
	}
	db := openDB(t, Options{URL: through, StatementTimeout: 64_321 * time.Millisecond})
	if _, err := db.Direct(t.Context()); !db.Pooled || !errs.Is(err, "database_pooled") {
		t.Errorf("Pooled = %v, Direct = %v, want true and database_pooled", db.Pooled, err)
	}
	later := openDB(t, Options{URL: direct, StatementTimeout: time.Minute})
	var fromRole string
	const ask = `SELECT setconfig::text FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()`
	if err := later.Pool.QueryRow(t.Context(), ask).Scan(&fromRole); err != nil || fromRole != "{statement_timeout=64321}" {
		t.Errorf("the role's settings = %s, %v, want the statement_timeout", fromRole, err)
	}
	both := openDB(t, Options{URL: through, DirectURL: direct})
	session, err := both.Direct(t.Context())
	if err != nil {
		t.Fatalf("Direct with a direct URL: %v", err)
	}
	defer session.Close(t.Context())
	if _, err := session.Exec(t.Context(), `LISTEN anything`); err != nil {
		t.Errorf("LISTEN past the pooler: %v", err)
	}
	manyThroughFew(t, db)
}

// manyThroughFew runs more sessions than the pooler has connections for: a
// statement prepared in one of them would be missing in the next.
func manyThroughFew(t *testing.T, db *DB) {
	failed := make(chan error)
	for n := range 8 {
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				var got int
				err = db.Pool.QueryRow(t.Context(), `SELECT $1::int + max(version_id)::int FROM goose_db_version`, n).Scan(&got)
				if err == nil && got != n+int(migrations.Latest()) {
					err = fmt.Errorf("got %d for %d", got, n)
				}
			}
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Errorf("through the pooler: %v", err)
		}
	}
}

func show(t *testing.T, q querier, setting string) (value string) {
	t.Helper()
	if err := q.QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func openDB(t *testing.T, o Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(db.Close)
	return db
}

func sibling(t *testing.T, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func second[T any](_ T, err error) error { return err }
