package migrations_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit/golden"
)

//go:embed testdata/describe.sql
var describe string

const heading = `-- The schema that all migrations together make, to read and to review.
-- Written by "make golden"; never applied.
`

// TestSchemaIsFresh fails when a migration was changed and schema.sql was not.
func TestSchemaIsFresh(t *testing.T) {
	pool := pgtest.New(t)
	rows, _ := pool.Query(t.Context(), describe)
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "schema.sql", []byte(heading+"\n"+strings.Join(statements, "\n\n")+"\n"))
}

// TestSchemaIsComplete applies schema.sql to an empty database: what the
// description forgot, an index on it or a reference to it would miss.
func TestSchemaIsComplete(t *testing.T) {
	pool := pgtest.New(t)
	rows, _ := pool.Query(t.Context(), describe)
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	other := connect(t, pgtest.Empty(t))
	exec1(t, other, `SET check_function_bodies = off`) // a function may name a table that comes later
	exec1(t, other, strings.Join(want, "\n"))
	rows, _ = other.Query(t.Context(), describe)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("the schema described and made again is another:\n got %s\nwant %s", a, b)
	}
}
