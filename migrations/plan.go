package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Step is a migration that has not been applied.
type Step struct {
	Version int64
	Name    string
	Locks   []Lock
	Serving int64 // programs that know the schema up to here may go on serving
	InParts bool  // not one transaction: what a kill leaves is gone on with
}

// Lock is a table that a step takes away from others for a while. Weaker locks,
// beside which everybody reads and writes, are none.
type Lock struct {
	Table string
	Mode  string
	Work  Work
	Bytes int64 // of the table; zero where it is not there yet
}

// Work is what is done under a lock.
type Work string

// The kinds of work.
const (
	Moment  Work = "moment"  // the catalog alone
	Scan    Work = "scan"    // the table is read
	Rewrite Work = "rewrite" // the table is written anew
)

// Cautious estimates: a busy machine with a slow disk does about that much.
var bytesPerSecond = map[Work]int64{Scan: 100 << 20, Rewrite: 20 << 20}

// Lasts estimates for how long.
func (l Lock) Lasts() time.Duration {
	if l.Work == Moment {
		return 0
	}
	return time.Duration(float64(l.Bytes) / float64(bytesPerSecond[l.Work]) * float64(time.Second)).Round(time.Second)
}

// Waits says who waits meanwhile.
func (l Lock) Waits() string {
	if l.Mode == "ACCESS EXCLUSIVE" {
		return "readers and writers"
	}
	return "writers"
}

// Plan gives the steps that have not been applied, in their order, and the
// schema's version. Any connection will do. A schema that needs a newer program
// is an error as it is to Up.
func Plan(ctx context.Context, url string) (version int64, pending []Step, err error) {
	config, err := parse(url)
	if err != nil {
		return 0, nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	db := stdlib.OpenDB(*config)
	defer db.Close()
	done, err := applied(ctx, db)
	if err != nil {
		return 0, nil, fmt.Errorf("read the schema's version: %w", err)
	}
	for v := range done {
		version = max(version, v)
	}
	if err := done.serves(Latest()); err != nil {
		return version, nil, err
	}
	for _, step := range steps(files) {
		if _, ok := done[step.Version]; ok {
			continue
		}
		if err := step.weigh(ctx, db); err != nil {
			return version, nil, err
		}
		pending = append(pending, step)
	}
	return version, pending, nil
}

var (
	declared = regexp.MustCompile(`(?m)^-- locks: (\w+) ([A-Z ]+), (moment|scan|rewrite)$`)
	compat   = regexp.MustCompile(`INSERT INTO schema_compat \(version, min_program\) VALUES \((\d+), (\d+)\)`)
)

// steps reads the files, in their order.
func steps(dir fs.FS) (all []Step) {
	names := versions(dir)
	for _, version := range slices.Sorted(maps.Keys(names)) {
		text, _ := fs.ReadFile(dir, names[version])
		all = append(all, read(version, names[version], string(text)))
	}
	return all
}

func read(version int64, name, text string) Step {
	s := Step{Version: version, Name: strings.TrimSuffix(name, ".sql"), Serving: version, InParts: strings.Contains(text, "NO TRANSACTION")}
	if m := compat.FindStringSubmatch(text); m != nil {
		s.Serving, _ = strconv.ParseInt(m[2], 10, 64)
	}
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		s.Locks = append(s.Locks, Lock{Table: m[1], Mode: m[2], Work: Work(m[3])})
	}
	return s
}

// weigh asks for the sizes of the tables.
func (s *Step) weigh(ctx context.Context, db *sql.DB) error {
	for i := range s.Locks {
		l := &s.Locks[i]
		err := db.QueryRowContext(ctx, `SELECT coalesce(pg_total_relation_size(to_regclass($1)), 0)`, l.Table).Scan(&l.Bytes)
		if err != nil {
			return fmt.Errorf("ask for the size of %s: %w", l.Table, err)
		}
	}
	return nil
}
