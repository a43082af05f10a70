package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/anet-hub/anet/shared/errs"
)

// diagnosed says that a file is damaged, where that is why it failed: SQLite
// itself names no file and no way out.
func diagnosed(ctx context.Context, path string, failed error) error {
	if damaged := Check(ctx, path); errs.Is(damaged, reasonDamaged) {
		return damaged
	}
	return failed
}

const reasonDamaged = "journal_damaged"

func errDamaged(path string) *errs.Error {
	return errs.New(errs.Conflict, reasonDamaged,
		"%s is damaged; restore it from a backup, or move it away: the node then knows nothing of its tasks and receipts, and may take an old message for a new one", path)
}

// Check reads a journal through without changing it. It may be in use. There is
// nothing to be said of one that does not exist.
func Check(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	defer db.Close()
	var says string
	err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&says)
	switch {
	case isDamage(err):
		return errDamaged(path).Because(err)
	case err != nil:
		return fmt.Errorf("check the journal: %w", err)
	case says != "ok":
		return errDamaged(path).Because(errors.New(says))
	}
	return nil
}

func isDamage(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff // the rest is detail
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
