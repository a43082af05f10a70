package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/migrations"
)

func TestEveryTestHasItsOwnDatabase(t *testing.T) {
	a, b := New(t), New(t)
	if _, err := a.Exec(t.Context(), `CREATE TABLE mine (n int)`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Exec(t.Context(), `CREATE TABLE mine (n int)`); err != nil {
		t.Errorf("the second database holds what the first one made: %v", err)
	}
}

func TestDatabaseIsMigrated(t *testing.T) {
	var version int64
	err := New(t).QueryRow(t.Context(), `SELECT max(version_id) FROM goose_db_version`).Scan(&version)
	if err != nil || version != migrations.Latest() {
		t.Errorf("schema version = %d, %v, want %d", version, err, migrations.Latest())
	}
}

func TestDatabaseGoesWithItsTest(t *testing.T) {
	var url string
	t.Run("uses one", func(t *testing.T) {
		url = URL(t)
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(t.Context()) })
	})
	if conn, err := pgx.Connect(t.Context(), url); err == nil {
		conn.Close(t.Context())
		t.Error("the database outlived its test")
	}
}

func TestServerSortsAndEncodesAsTheHubs(t *testing.T) {
	for _, url := range []string{URL(t), Empty(t)} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		var got string
		const ask = `SELECT datcollate || ' ' || pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()`
		if err := conn.QueryRow(t.Context(), ask).Scan(&got); err != nil || got != "C UTF8" {
			t.Errorf("collation and encoding = %q, %v, want \"C UTF8\"", got, err)
		}
	}
}
