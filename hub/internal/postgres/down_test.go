package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anet-hub/anet/hub/pgtest"
)

func TestDown(t *testing.T) {
	_, nobody := pgx.Connect(t.Context(), "postgres://anet@127.0.0.1:1/anet")
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	_, syntax := conn.Exec(t.Context(), `SELEKT`)
	_, ended := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`)
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"nobody listens", nobody, true},
		{"the server ended the session", ended, true},
		{"it recovers", &pgconn.PgError{Code: "57P03"}, true},
		{"too many connections", &pgconn.PgError{Code: "53300"}, true},
		{"the connection broke", fmt.Errorf("poll: %w", io.ErrUnexpectedEOF), true},
		{"a statement took too long", &pgconn.PgError{Code: "57014"}, false},
		{"a statement is wrong", syntax, false},
		{"the caller has gone", context.Canceled, false},
		{"something else", errors.New("no"), false},
		{"nothing", nil, false},
	} {
		if got := Down(tt.err); got != tt.want {
			t.Errorf("%s: Down(%v) = %v, want %v", tt.name, tt.err, got, tt.want)
		}
	}
}
