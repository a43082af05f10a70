package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
)

// schemaEvery is how soon a process notices a migration that leaves it behind.
const schemaEvery = 10 * time.Second

// Schema watches the schema under a running process: a newer program may have
// migrated it, and then the migration says whether this one may go on.
type Schema struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

// NewSchema makes the watch.
func NewSchema(pool *pgxpool.Pool, log *slog.Logger) *Schema { return &Schema{pool: pool, log: log} }

// Served fails while a migration shuts this program out.
func (s *Schema) Served(ctx context.Context) error {
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close()
	return migrations.Served(ctx, db)
}

// Run tells the operator, once, of a migration that shuts this program out. What
// the process does goes on as far as it still works: readiness says that it
// should not be asked.
func (s *Schema) Run(ctx context.Context) error {
	tick := time.NewTicker(schemaEvery)
	defer tick.Stop()
	for told := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			told = s.tell(s.Served(ctx), told)
		}
	}
}

// tell gives whether the log says by now that this program is shut out. It is
// said again only where the program was let in meanwhile.
func (s *Schema) tell(err error, told bool) bool {
	newer := errs.Is(err, "schema_newer")
	if newer && !told {
		s.log.Error("the schema was migrated for newer programs: this process is not ready any more", "error", err)
	}
	return newer || told && err != nil
}
