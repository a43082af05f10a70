package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/pgtest"
)

func indexes(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What was filled in bulk is found and shown like what was registered, and the
// schema is as it was.
func TestLoad(t *testing.T) {
	pool := pgtest.New(t)
	before := indexes(t, pool)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stock := []Stock{
		{Agent: directory.Agent{AID: "b1", Name: "one", Tags: []string{"x.a", "x.b"}, Visibility: directory.HubLocal, RegisteredAt: at}, LastSeen: at.Add(time.Hour)},
		{Agent: directory.Agent{AID: "b2", Name: "two", Tags: []string{"x.a"}, Visibility: directory.HubLocal, RegisteredAt: at,
			Rating: directory.Rating{Sum: 9, Count: 2}, Card: directory.CardFacts{Name: "zwei", Skills: []string{"x.c"}}}, LastSeen: at},
	}
	store := NewDirectory(pool, nil)
	if err := store.Load(t.Context(), slices.Values(stock)); err != nil {
		t.Fatal(err)
	}
	if after := indexes(t, pool); !slices.Equal(after, before) {
		t.Errorf("indexes afterwards %q, before %q", after, before)
	}
	for _, tt := range []struct {
		asked string
		want  []Stock // better reviews first
	}{
		{"x.a", []Stock{stock[1], stock[0]}},
		{"x.c", stock[1:]},
		{"", []Stock{stock[1], stock[0]}},
	} {
		st, err := store.Ranked(t.Context(), []string{tt.asked}, firstPlace, 10, directory.MaxPageBytes)
		if err != nil || len(st.Rows) != len(tt.want) {
			t.Fatalf("%q finds %d agents (%v), want %d", tt.asked, len(st.Rows), err, len(tt.want))
		}
		for i, want := range tt.want {
			view, err := want.Rendered()
			if err != nil {
				t.Fatal(err)
			}
			if got := st.Rows[i]; string(got.View) != string(view) || !got.LastSeen.Equal(want.LastSeen) {
				t.Errorf("%q shows %s, last seen %s, want %s, %s", tt.asked, got.View, got.LastSeen, view, want.LastSeen)
			}
		}
	}
}
