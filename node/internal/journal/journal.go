package journal

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/anet-hub/anet/shared/errs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// FileName is the journal's name in the data folder.
const FileName = "journal.db"

// Journal is an open file. Its owner holds the lock of the data folder: two
// processes on one file would each believe to be the only writer.
type Journal struct {
	write *sql.DB // one connection: the writer
	read  *sql.DB // one connection, too: each costs a megabyte for good
	now   func() time.Time

	writing, reading *statements // of the two

	mu      sync.Mutex // held by the writing transaction
	version int64      // of the task changed last; guarded by mu
	soft    bool       // something was written that may not be on disk; guarded by mu

	changed broadcast // tasks
	queued  broadcast // outgoing messages
}

// Open opens or creates the file and brings its tables up to date. A file that
// a newer program wrote is refused.
func Open(ctx context.Context, path string, now func() time.Time) (*Journal, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	write, err := open(path, "immediate", 1)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(diagnosed(ctx, path, err), write.Close())
	}
	read, err := open(path, "deferred", 1)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	j := &Journal{write: write, read: read, now: now, writing: newStatements(write), reading: newStatements(read)}
	j.changed.init()
	j.queued.init()
	err = write.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM task`).Scan(&j.version)
	if err != nil {
		return nil, errors.Join(diagnosed(ctx, path, fmt.Errorf("read the journal: %w", err)), j.Close())
	}
	return j, nil
}

// private makes a file only its owner can read; what SQLite puts beside it gets
// the same mode.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	return f.Close()
}

// open keeps the page cache small: a node idles in less than 20 MB, and its
// working set is a few rows.
func open(path, lock string, conns int) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"busy_timeout(5000)", "cache_size(-128)", "secure_delete(ON)",
	}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(1)
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if have > want {
		return errs.New(errs.Conflict, "journal_too_new",
			"the journal has version %d and this program knows up to %d; use the newer anet again", have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the journal up to date: %w", err)
	}
	return nil
}

// Close waits for the running transaction.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(j.read.Close(), j.write.Close())
}

// Write runs f in a transaction and returns when it is on disk. It is not
// stopped half way by ctx: what is to be recorded about work that was done must
// be recorded while the program stops, too.
func (j *Journal) Write(ctx context.Context, f func(*Tx) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writeHard(context.WithoutCancel(ctx), f)
}

// writeHard makes all that was written before durable, too: the log of the
// database has one order.
func (j *Journal) writeHard(ctx context.Context, f func(*Tx) error) error {
	err := j.commit(ctx, f)
	if err == nil {
		j.soft = false
	}
	return err
}

// Sync returns when everything written so far is on disk. Many soft writes and
// one Sync cost one wait.
func (j *Journal) Sync(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.soft {
		return nil
	}
	return j.writeHard(context.WithoutCancel(ctx), func(t *Tx) error { return t.exec(`UPDATE mark SET n = n + 1`) })
}

// WriteSoon is Write without waiting for the disk: the transaction survives the
// end of this process, however sudden, and a later Write or Sync makes it
// survive the machine's. It is for what a message not yet acknowledged would
// repeat.
func (j *Journal) WriteSoon(ctx context.Context, f func(*Tx) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if _, err := j.write.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	j.soft = true
	err := j.commit(ctx, f)
	if _, e := j.write.ExecContext(ctx, `PRAGMA synchronous = FULL`); e != nil {
		return errors.Join(err, fmt.Errorf("write the journal: %w", e))
	}
	return err
}

func (j *Journal) commit(ctx context.Context, f func(*Tx) error) error {
	tx, err := j.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	defer j.writing.keep(ctx)
	defer tx.Rollback() // after a commit it does nothing
	t := &Tx{ctx: ctx, tx: tx, statements: j.writing, j: j, now: j.now(), version: j.version}
	if err := f(t); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	j.version = t.version
	if t.touched {
		j.changed.wake()
	}
	if t.queued {
		j.queued.wake()
	}
	return nil
}

// Read runs f over one snapshot. Reads take turns, so f must be short and must
// not read again other than through its Tx.
func (j *Journal) Read(ctx context.Context, f func(*Tx) error) error {
	tx, err := j.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer j.reading.keep(ctx)
	defer tx.Rollback()
	return f(&Tx{ctx: ctx, tx: tx, statements: j.reading, j: j, now: j.now()})
}

// Changed is closed by the next transaction that changes a task. Take it before
// reading, or a change in between is missed.
func (j *Journal) Changed() <-chan struct{} { return j.changed.next() }

// Queued is closed by the next transaction that gives the outbox something to do.
func (j *Journal) Queued() <-chan struct{} { return j.queued.next() }
