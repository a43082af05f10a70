package journal

import (
	"context"
	"database/sql"
	"sync"
)

// maxStatements bounds what is kept compiled, should texts ever be put together.
const maxStatements = 200

// statements keeps compiled what a connection is asked again and again: SQLite
// takes longer to compile most of it than to run it.
type statements struct {
	db     *sql.DB // of one connection
	mu     sync.Mutex
	ready  map[string]*sql.Stmt
	wanted map[string]bool
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, ready: map[string]*sql.Stmt{}, wanted: map[string]bool{}}
}

// within gives a statement that lasts as long as the transaction. One that is
// not compiled yet is noted: the transaction holds the only connection.
func (s *statements) within(ctx context.Context, tx *sql.Tx, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	ready := s.ready[query]
	if ready == nil && len(s.ready)+len(s.wanted) < maxStatements {
		s.wanted[query] = true
	}
	s.mu.Unlock()
	if ready != nil {
		return tx.StmtContext(ctx, ready), nil
	}
	return tx.PrepareContext(ctx, query)
}

// keep compiles for later what transactions missed. What cannot be compiled has
// failed before, and fails again where it is used.
func (s *statements) keep(ctx context.Context) {
	for _, query := range s.take() {
		stmt, err := s.db.PrepareContext(ctx, query)
		if err != nil {
			continue
		}
		s.mu.Lock()
		s.ready[query] = stmt
		s.mu.Unlock()
	}
}

func (s *statements) take() (queries []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for query := range s.wanted {
		queries = append(queries, query)
	}
	clear(s.wanted)
	return queries
}
