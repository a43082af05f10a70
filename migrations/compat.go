package migrations

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/anet-hub/anet/shared/errs"
)

// history is what was done to a database: every version applied, with the oldest
// program that may serve after it. A program is as old as the latest version it
// knows.
type history map[int64]int64

// Served tells whether this program may serve on the database. It may until a
// migration says otherwise: then it is an errs.Unavailable "schema_newer".
func Served(ctx context.Context, db *sql.DB) error {
	done, err := applied(ctx, db)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	return done.serves(Latest())
}

// Applied is the latest version that was applied to a database, 0 for none.
func Applied(ctx context.Context, db *sql.DB) (newest int64, err error) {
	done, err := applied(ctx, db)
	for version := range done {
		newest = max(newest, version)
	}
	return newest, err
}

// serves refuses a program that knows the schema up to that version where a later
// migration needs a newer one. Of several the latest is named.
func (h history) serves(program int64) error {
	var version, oldest int64
	for v, min := range h {
		if v > program && min > program && v > version {
			version, oldest = v, min
		}
	}
	if version == 0 {
		return nil
	}
	return errs.New(errs.Unavailable, "schema_newer",
		"the database has schema version %d, for programs that know version %d or later, and this program knows versions up to %d: run a newer program",
		version, oldest, program)
}

// applied reads the history. What a migration says of older programs it wrote in
// its own transaction; one that says nothing is for programs that know it.
func applied(ctx context.Context, db *sql.DB) (history, error) {
	var versions, compat bool
	const made = `SELECT to_regclass('goose_db_version') IS NOT NULL, to_regclass('schema_compat') IS NOT NULL`
	if err := db.QueryRowContext(ctx, made).Scan(&versions, &compat); err != nil || !versions {
		return nil, err
	}
	query := `SELECT version_id, version_id FROM goose_db_version WHERE is_applied`
	if compat {
		query = `SELECT version_id, coalesce(min_program, version_id)
			FROM goose_db_version LEFT JOIN schema_compat ON version = version_id WHERE is_applied`
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := history{}
	for rows.Next() {
		var version, oldest int64
		if err := rows.Scan(&version, &oldest); err != nil {
			return nil, err
		}
		found[version] = oldest
	}
	return found, rows.Err()
}
