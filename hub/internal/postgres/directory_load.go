package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/capability"
)

// Stock is an agent for Load, with its last sign of life, and with what it signed
// where somebody could sign for it.
type Stock struct {
	directory.Agent
	LastSeen time.Time
	KEL      []byte
	Signed   *directory.AdmittedCard
	Keyset   []byte
}

// kel is its key history: there has to be one.
func (s Stock) kel() []byte {
	if s.KEL == nil {
		return []byte{0x80}
	}
	return s.KEL
}

// loadedTables are the tables Load fills, each with the rows of one agent.
var loadedTables = []struct {
	name    string
	columns []string
	rows    func(Stock) ([][]any, error)
}{
	{"member", []string{"aid", "kel", "first_seen_at", "rating_sum", "rating_count", "card_seq", "card_hash"}, func(s Stock) ([][]any, error) {
		row := []any{s.AID, s.kel(), s.RegisteredAt, s.Rating.Sum, s.Rating.Count, nil, nil}
		if c := s.Signed; c != nil {
			row[5], row[6] = c.Mark.Seq, c.Mark.Hash[:]
		}
		return [][]any{row}, nil
	}},
	{"agent", loadedColumns, agentRow},
	{"agent_cap", []string{"aid", "cap", "skill", "rank_rating", "rank_reviews", "registered_at"}, capRows},
	{"agent_seen", []string{"aid", "last_seen"}, func(s Stock) ([][]any, error) {
		return [][]any{{s.AID, s.LastSeen}}, nil
	}},
	{"agent_card", []string{"aid", "card", "verified_at", "tags", "search"}, func(s Stock) ([][]any, error) {
		return only(s.Signed != nil, func() []any {
			return []any{s.AID, s.Signed.Raw, s.Signed.VerifiedAt, list(s.Signed.Tags), s.Signed.Search}
		}), nil
	}},
	{"agent_card_tag", []string{"tag", "aid"}, func(s Stock) (rows [][]any, _ error) {
		for _, tag := range s.tags() {
			rows = append(rows, []any{tag, s.AID})
		}
		return rows, nil
	}},
	{"agent_keyset", []string{"aid", "keyset"}, func(s Stock) ([][]any, error) {
		return only(s.Keyset != nil, func() []any { return []any{s.AID, s.Keyset} }), nil
	}},
	{"feed_dirty", []string{"aid"}, func(s Stock) ([][]any, error) {
		return only(s.Visibility.ToPeers(), func() []any { return []any{s.AID} }), nil
	}},
}

func only(is bool, row func() []any) [][]any {
	if !is {
		return nil
	}
	return [][]any{row()}
}

func (s Stock) tags() []string {
	if s.Signed == nil {
		return nil
	}
	return s.Signed.Tags
}

var loadedColumns = []string{"aid", "name", "tags", "card_name", "skills", "summary", "readme", "pricing", "visibility",
	"registered_at", "rating_sum", "rating_count", "rank_rating", "rank_reviews", "listed", "view", "search"}

func agentRow(s Stock) ([][]any, error) {
	args, err := agentArgs(s.Agent)
	row := make([]any, len(loadedColumns))
	for i, c := range loadedColumns {
		row[i] = args[c]
	}
	return [][]any{row}, err
}

func capRows(s Stock) (rows [][]any, err error) {
	p := s.Place()
	for _, c := range append(s.Caps(), "") {
		rows = append(rows, []any{s.AID, c, s.IsSkill(c), p.Rating, p.Reviews, p.RegisteredAt})
	}
	return rows, nil
}

// Load fills an empty directory in bulk with rows as registrations leave them.
// Indexes that are no primary keys are made
// after the rows, by their own definitions. agents is walked once for each table.
func (s *Directory) Load(ctx context.Context, agents iter.Seq[Stock]) error {
	indexes, err := s.dropIndexes(ctx)
	if err != nil {
		return err
	}
	for _, t := range loadedTables {
		next, stop := iter.Pull2(rowsOf(agents, t.rows))
		_, err := s.pool.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
			row, err, ok := next()
			if !ok {
				return nil, nil
			}
			return row, err
		}))
		stop()
		if err != nil {
			return fmt.Errorf("fill %s: %w", t.name, err)
		}
	}
	return s.finishLoad(ctx, indexes)
}

func rowsOf(agents iter.Seq[Stock], of func(Stock) ([][]any, error)) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for a := range agents {
			rows, err := of(a)
			if err != nil && !yield(nil, err) {
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// dropIndexes drops what finishLoad makes again.
func (s *Directory) dropIndexes(ctx context.Context) (definitions []string, err error) {
	rows, err := s.pool.Query(ctx, `
		SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
		WHERE NOT indisprimary AND indrelid IN ('agent'::regclass, 'agent_cap'::regclass)`)
	if err != nil {
		return nil, fmt.Errorf("find the indexes: %w", err)
	}
	var drop []string
	var name, definition string
	_, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		drop, definitions = append(drop, `DROP INDEX `+name), append(definitions, definition)
		return nil
	})
	return definitions, errors.Join(err, s.execAll(ctx, drop))
}

// finishLoad leaves the tables as autovacuum would.
func (s *Directory) finishLoad(ctx context.Context, indexes []string) error {
	return s.execAll(ctx, append(indexes, `VACUUM (ANALYZE) member, agent, agent_cap, agent_seen, agent_card, agent_card_tag, agent_keyset`, `CHECKPOINT`))
}

func (s *Directory) execAll(ctx context.Context, statements []string) error {
	for _, sql := range statements {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// Statement is a text with its parameters.
type Statement struct {
	SQL  string
	Args []any
}

// ExactStatement is what asking for the first n agents with a capability comes
// down to: what the rest of the hub costs is measured against it.
func ExactStatement(capID string, n int) Statement {
	return Statement{rankedSQL, stepArgs(capID, firstPlace, n)}
}

// PrefixStatement is the same for a prefix.
func PrefixStatement(prefix string, n int) Statement {
	until, _ := capability.UpperBound(prefix)
	return Statement{inRangeSQL, append(stepArgs(prefix, firstPlace, n), until, []string{prefix}, []string{until})}
}

// SearchStatement is the same for a text that the next n listed agents may hold.
func SearchStatement(text string, n int) Statement {
	return Statement{searchSQL, stepArgs(text, firstPlace, n)}
}

var firstPlace = directory.Place{Rating: math.MinInt32, Reviews: math.MinInt32}
