package app

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

// An operator is not told to make or to migrate what a process is just at: a hub
// on its first start, or on that of its next version.
func TestAnOperatorBesideMigrations(t *testing.T) {
	for want, url := range map[string]string{
		"no_hub_here": pgtest.Empty(t), "hub_identity_missing": pgtest.URL(t), "schema_pending": hubBeforeAStep(t),
	} {
		cfg := Defaults()
		cfg.DatabaseURL = url
		done := migrating(t, url)
		if _, err := NewOperator(t.Context(), cfg, quiet); !errs.Is(err, "migration_running") {
			t.Errorf("beside migrations that leave %s: %v, want migration_running", want, err)
		}
		done()
		if _, err := NewOperator(t.Context(), cfg, quiet); !errs.Is(err, want) {
			t.Errorf("without anybody who migrates: %v, want %s", err, want)
		}
	}
}

// hubBeforeAStep is a database with a hub for which the last migration is not done.
func hubBeforeAStep(t *testing.T) string {
	t.Helper()
	url := pgtest.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := hubkey.Open(t.Context(), postgres.NewIdentity(pool, time.Now), time.Now(), quiet); err != nil {
		t.Fatal(err)
	}
	execute(t, url, `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	return url
}

// migrating holds the lock of migrations, as a process does that is at them.
func migrating(t *testing.T, url string) (done func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	ask := func(what string) {
		const key int64 = 0x616e6574_6d696772
		if _, err := conn.Exec(t.Context(), `SELECT `+what+`($1)`, key); err != nil {
			t.Fatal(err)
		}
	}
	ask("pg_advisory_lock")
	return func() { ask("pg_advisory_unlock") }
}
