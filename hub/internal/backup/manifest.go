// Package backup is the file a hub is kept in: what pg_dump wrote, and behind it
// a manifest that says what it is.
//
// The one rule: a file without its last line is no backup. Whatever cut the
// writing short cut that line off, too, and so nobody restores half a hub. In
// front of it stands an archive that pg_restore reads as it is, should there ever
// be no program of ours at hand.
package backup

import (
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Manifest says what a backup holds.
type Manifest struct {
	Hub      string           `json:"hub"`      // the hub's AID
	TakenAt  time.Time        `json:"taken_at"` // the moment whose state it holds
	Schema   int64            `json:"schema"`   // the latest migration applied
	Program  string           `json:"program"`  // the version that wrote it
	Postgres int              `json:"postgres"` // the server's major version
	Mail     bool             `json:"mail"`     // with the mail that waited
	Rows     map[string]int64 `json:"rows"`     // of each table
	Bytes    int64            `json:"bytes"`    // of the archive
	SHA256   string           `json:"sha256"`   // of the archive
}

// Fits refuses a backup that the program or the server is too old for.
func (m Manifest) Fits(schema int64, postgres int) error {
	switch {
	case m.Schema > schema:
		return errs.New(errs.Unavailable, "schema_newer",
			"the backup has schema version %d, and this program knows versions up to %d: restore it with a newer program", m.Schema, schema)
	case m.Postgres > postgres:
		return errs.New(errs.Unavailable, "postgres_older",
			"the backup is of PostgreSQL %d, and the server here is %d: restore it into %d or newer", m.Postgres, postgres, m.Postgres)
	}
	return nil
}
