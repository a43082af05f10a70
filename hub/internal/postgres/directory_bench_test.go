package postgres

import (
	"context"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
)

// benchAgents is how large a directory the benchmarks ask; ANET_BENCH_AGENTS
// sets it, the figures of the documents are taken at a million.
func benchAgents(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("ANET_BENCH_AGENTS"))
	if err != nil {
		return 100_000
	}
	b.Logf("%d agents", n)
	return n
}

// BenchmarkLookup asks for pages of fifty, through the rules and as the bare
// statement.
func BenchmarkLookup(b *testing.B) {
	pool := pgtest.New(b)
	seed(b, pool, benchAgents(b))
	store := NewDirectory(pool, nil)
	now := func() time.Time { return time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC) }
	d := directory.New(store, directorytest.Usual{}, admission.Door{}, identity.Replay, now)
	for _, c := range []struct {
		name, cap string
		bare      func(ctx context.Context) error
	}{
		{"exact", "shared.c7", bare(store, rankedSQL, "shared.c7")},
		{"common", "common.cap", bare(store, rankedSQL, "common.cap")},
		{"prefix", "fam.*", bare(store, inRangeSQL, "fam.", "fam/", []string{"fam."}, []string{"fam/"})},
	} {
		q, err := directory.AskCap(c.cap)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, c.name+"/bare", c.bare)
		measure(b, c.name+"/rules", func(ctx context.Context) error {
			_, err := d.List(ctx, q, 50, "", plenty)
			return err
		})
	}
	for _, text := range []string{"agent", "777", "nowhere"} {
		q, _ := directory.AskText(text)
		measure(b, "text/"+text, func(ctx context.Context) error {
			_, err := d.List(ctx, q, 50, "", plenty)
			return err
		})
	}
}

func measure(b *testing.B, name string, f func(context.Context) error) {
	b.Run(name, func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := f(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// bare asks a statement of directory_list.go for fifty and one, and reads the
// answer without looking at it.
func bare(s *Directory, sql, asked string, more ...any) func(context.Context) error {
	args := append(stepArgs(asked, directory.Place{Rating: math.MinInt32, Reviews: math.MinInt32}, 51), more...)
	return func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			rows.RawValues()
		}
		return rows.Err()
	}
}
