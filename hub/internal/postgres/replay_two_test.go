package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/pgtest"
)

// An effect that fails, in its rules or at the server, leaves neither itself nor
// the use of the proof behind, and a connection that can be used on.
func TestReplayOnceInTwo(t *testing.T) {
	pool, c := pgtest.New(t), newClock()
	r, no := newReplay(pool, c), errors.New("no")
	ask := func(b *pgx.Batch) { b.Queue(`SELECT 7`) }
	write := func(sql string) effect {
		return func(answers pgx.BatchResults) (*pgx.Batch, error) {
			var n int
			if err := answers.QueryRow().Scan(&n); err != nil || n != 7 {
				t.Errorf("asked for 7: %d, %v", n, err)
			}
			var b pgx.Batch
			b.Queue(`INSERT INTO mailbox (aid, is_open, last_id) VALUES ('b', true, 1)`)
			b.Queue(sql)
			return &b, nil
		}
	}
	p := c.sign("a")
	for _, tt := range []struct {
		name   string
		effect effect
		works  bool
		want   int
	}{
		{"refused by the rules", func(pgx.BatchResults) (*pgx.Batch, error) { return nil, no }, false, 0},
		{"refused by the server", write(`SELECT 1/0`), false, 0},
		{"done", write(`SELECT 1`), true, 1},
		{"the same request again", write(`SELECT 1`), false, 1},
	} {
		err := r.OnceInTwo(t.Context(), p, ask, tt.effect)
		if (err == nil) != tt.works {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := rows(t, pool, "mailbox"); got != tt.want {
			t.Errorf("%s: %d rows are written, want %d", tt.name, got, tt.want)
		}
	}
	wantReason(t, "used up", r.OnceInTwo(t.Context(), p, ask, write(`SELECT 1`)), "replayed")
	if made := pool.Stat().NewConnsCount(); made > 1 {
		t.Errorf("%d connections were made, want the first to be used on", made)
	}
}
