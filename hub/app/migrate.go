package app

import (
	"context"
	"log/slog"

	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/migrations"
)

// Schema is a hub's database as far as its schema goes; there may be no hub in it
// yet.
type Schema struct{ data *Database }

// OpenSchema finds the database as NewOperator does.
func OpenSchema(ctx context.Context, cfg Config, log *slog.Logger) (*Schema, error) {
	data, err := AttachDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return &Schema{data}, nil
}

// Close lets go of the database.
func (s *Schema) Close(ctx context.Context) error { return s.data.Close(ctx) }

// Plan gives the version of the schema and the steps that are pending.
func (s *Schema) Plan(ctx context.Context) (int64, []migrations.Step, error) {
	return migrations.Plan(ctx, s.data.DirectURL())
}

// Migrate applies them.
func (s *Schema) Migrate(ctx context.Context, log *slog.Logger) error {
	return postgres.Migrate(ctx, s.data.DirectURL(), log)
}

// schema brings the schema up to date, or wants it to be.
func (a *App) schema(ctx context.Context) error {
	url := a.data.DirectURL()
	if !a.cfg.NoMigrate {
		return postgres.Migrate(ctx, url, a.log)
	}
	return postgres.Migrated(ctx, url)
}
