package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
)

// Target is what a database holds that a backup is to be restored into.
type Target struct {
	Tables  int
	Members int64 // of a hub's
	Hub     string
}

// Empty reports whether nothing at all is there.
func (t Target) Empty() bool { return t.Tables == 0 }

// Unused reports whether a hub is there that nobody ever registered at.
func (t Target) Unused() bool { return t.Hub != "" && t.Members == 0 }

// LookAt says what a database holds.
func LookAt(ctx context.Context, url string) (t Target, err error) {
	conn, err := patient(ctx, url)
	if err != nil {
		return t, err
	}
	defer conn.Close(ctx)
	if err := suitable(conn); err != nil {
		return t, err
	}
	if err := alone(ctx, conn); err != nil {
		return t, err
	}
	var hub bool
	err = conn.QueryRow(ctx, `
		SELECT count(*), to_regclass('hub_identity') IS NOT NULL AND to_regclass('member') IS NOT NULL
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
		  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`).Scan(&t.Tables, &hub)
	if err != nil || !hub {
		return t, found(err, nil, "look into the database")
	}
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM member`).Scan(&t.Members); err != nil {
		return t, fmt.Errorf("count the members: %w", err)
	}
	if t.Hub, _, err = hubAndSchema(ctx, conn); err != nil {
		t.Hub, err = "", nil // a schema without an identity yet
	}
	return t, err
}

// alone refuses a database that a hub serves from.
func alone(ctx context.Context, conn *pgx.Conn) error {
	var others int
	err := conn.QueryRow(ctx, `
		SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'anet-hub' AND pid <> pg_backend_pid()`).Scan(&others)
	if err == nil && others > 0 {
		return errs.New(errs.Conflict, "hub_is_running", "a hub runs on this database: stop every process of it first")
	}
	return found(err, nil, "look for a hub that runs")
}

// emptyFirst removes what a hub made that nobody registered at, in the
// transaction of the restore.
const emptyFirst = `
SET LOCAL client_min_messages = warning;
DO $empty$
DECLARE here regnamespace = current_schema()::regnamespace;
BEGIN
	IF EXISTS (SELECT FROM member) THEN
		RAISE EXCEPTION 'somebody registered at this hub meanwhile';
	END IF;
	EXECUTE coalesce((
		SELECT string_agg(format('DROP %s IF EXISTS %s CASCADE', kind, name), ';') FROM (
			SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass::text, oid
			FROM pg_class WHERE relnamespace = here AND relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT relispartition
			UNION ALL SELECT 'ROUTINE', oid::regprocedure::text, oid FROM pg_proc WHERE pronamespace = here
			UNION ALL SELECT 'TYPE', oid::regtype::text, oid FROM pg_type WHERE typnamespace = here AND typtype IN ('e', 'd')
		) AS made (kind, name, oid)
		WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = made.oid AND (d.deptype = 'e' OR kind = 'SEQUENCE' AND d.deptype IN ('a', 'i')))), 'SELECT');
END $empty$;
`

// BeforeRestore are the statements that run before an archive's, in their
// transaction.
func BeforeRestore(t Target) string {
	if t.Empty() {
		return ""
	}
	return emptyFirst
}

// idRoom is how far ahead of the clock a restored mailbox goes on. Ids that were
// given out after the backup follow the clock, which may have been wrong by less
// than that.
const idRoom = 24 * time.Hour

// AfterRestore are the statements that make a hub of what the archive held: mail
// that was left out is not counted, no id and no number of a stream is given out a
// second time (not even one given after the backup), no request that was signed
// before now is taken, and no credit moves until the books were audited.
func AfterRestore(mail bool, now time.Time) string {
	counts := `count = 0, bytes = 0`
	if mail {
		counts = `count = count`
	}
	return fmt.Sprintf(`
SELECT set_config('search_path', quote_ident(n.nspname), true)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'hub_identity';
UPDATE mailbox SET last_id = greatest(last_id, %[1]d), %[2]s;
%[4]s
DELETE FROM replay_epoch;
INSERT INTO replay_epoch (accept_from) VALUES ('%[3]s');
%[5]s
`, now.Add(idRoom).UnixMicro(), counts, now.Add(replay.Clocks).UTC().Format(time.RFC3339Nano), liftFeed(now.Add(idRoom).UnixMicro()), closeBooks(now))
}

// liftFeed has every entry told anew under a number that no peer has read as far
// as: what was told after the backup was forgotten with it. An archive may be older
// than the streams.
func liftFeed(from int64) string {
	return fmt.Sprintf(`
DO $feed$ BEGIN
	IF to_regclass('review_total') IS NULL THEN RETURN; END IF;
	UPDATE review_total SET seq = greatest(seq, %[1]d);
	IF to_regclass('feed') IS NULL THEN RETURN; END IF;
	UPDATE feed_head SET seq = greatest(seq, %[1]d);
	UPDATE feed SET fed_seq = h.seq + k.i
	FROM feed_head h, (SELECT stream, aid, row_number() OVER (ORDER BY fed_seq, stream) AS i FROM feed) AS k
	WHERE (feed.stream, feed.aid) = (k.stream, k.aid);
	UPDATE feed_head SET seq = seq + (SELECT count(*) FROM feed);
END $feed$;`, from)
}

// closeBooks has the ledger wait for an audit. An archive may be older than it.
func closeBooks(now time.Time) string {
	return fmt.Sprintf(`
DO $books$ BEGIN
	IF to_regclass('ledger') IS NULL THEN RETURN; END IF;
	UPDATE ledger SET read_only_since = '%s';
END $books$;`, now.UTC().Format(time.RFC3339Nano))
}
