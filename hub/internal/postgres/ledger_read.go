package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
)

// What is read of an account, of a seller and of the chain: never more of a table than
// is shown.
const (
	accountSQL  = `SELECT balance, entries FROM account WHERE aid = @aid`
	entriesSQL  = `SELECT n, delta, reason, coalesce(auth_id, ''), at FROM account_entry WHERE aid = @aid ORDER BY n DESC LIMIT @n`
	redeemedSQL = redemptionSQL + ` WHERE aid = @aid ORDER BY n DESC LIMIT @n`
	sellerSQL   = `
	SELECT m.kel, c.card, EXISTS (SELECT FROM block b WHERE b.aid = a.aid AND ` + holds + `)
	FROM agent a JOIN member m USING (aid) LEFT JOIN agent_adp_card c USING (aid) WHERE a.aid = @aid`
	linksSQL        = `SELECT ` + linkColumns + ` FROM issuance WHERE seq >= @from ORDER BY seq LIMIT @n`
	linkIDSQL       = `SELECT id FROM issuance WHERE seq = @seq`
	attestationsSQL = `SELECT witness, seq, head_id, observed_at, signed FROM attestation ORDER BY seq DESC, witness LIMIT @n`
)

// Account implements ledger.Store.
func (s *Ledger) Account(ctx context.Context, aid string) (a ledger.Account, err error) {
	err = s.pool.QueryRow(ctx, accountSQL, pgx.NamedArgs{"aid": aid}).Scan(&a.Balance, &a.Entries)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, nil
	}
	return a, found(err, nil, "read an account")
}

// Entries implements ledger.Store.
func (s *Ledger) Entries(ctx context.Context, aid string, n int) ([]ledger.Entry, error) {
	return newest(ctx, s, entriesSQL, aid, n, pgx.RowToStructByPos[ledger.Entry])
}

// newest reads the last rows of something, and turns them round.
func newest[T any](ctx context.Context, s *Ledger, sql, aid string, n int, to pgx.RowToFunc[T]) ([]T, error) {
	rows, err := s.pool.Query(ctx, sql, pgx.NamedArgs{"aid": aid, "n": n})
	if err != nil {
		return nil, fmt.Errorf("read a page of the books: %w", err)
	}
	page, err := pgx.CollectRows(rows, to)
	slices.Reverse(page)
	return page, err
}

// Redemptions implements ledger.Store.
func (s *Ledger) Redemptions(ctx context.Context, aid string, n int) (page []ledger.Redemption, total ledger.Sum, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(amount), 0)::bigint FROM redemption WHERE aid = @aid`,
		pgx.NamedArgs{"aid": aid}).Scan(&total.Count, &total.Amount)
	if err != nil {
		return nil, total, fmt.Errorf("count redemptions: %w", err)
	}
	page, err = newest(ctx, s, redeemedSQL, aid, n, toRedemption)
	return page, total, err
}

// Seller implements ledger.Store.
func (s *Ledger) Seller(ctx context.Context, aid string, now time.Time) (v ledger.Seller, err error) {
	err = s.pool.QueryRow(ctx, sellerSQL, pgx.NamedArgs{"aid": aid, "asked_at": now}).Scan(&v.KEL, &v.Card, &v.Blocked)
	return v, found(err, errAgentUnknown(), "read what an agent sells")
}

const totalsSQL = `
	SELECT issued, retired, head_seq, head_id, read_only_since,
	       (SELECT coalesce(sum(balance), 0)::bigint FROM account),
	       (SELECT coalesce(sum(amount), 0)::bigint FROM redemption),
	       (SELECT coalesce(sum(owed), 0)::bigint FROM clearing), (SELECT coalesce(sum(due), 0)::bigint FROM clearing)
	FROM ledger`

func toTotals(r pgx.Row) (t ledger.Totals, err error) {
	var since *time.Time
	err = r.Scan(&t.Issued, &t.Retired, &t.HeadSeq, &t.HeadID, &since, &t.Balances, &t.Redeemed, &t.OwedTo, &t.Owes)
	t.ReadOnly = orZero(since)
	return t, found(err, nil, "read the supply")
}

// Totals implements ledger.Public.
func (s *Ledger) Totals(ctx context.Context) (ledger.Totals, error) {
	return toTotals(s.pool.QueryRow(ctx, totalsSQL))
}

// Head implements ledger.Public.
func (s *Ledger) Head(ctx context.Context) (seq uint64, id string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT head_seq, head_id FROM ledger`).Scan(&seq, &id)
	return seq, id, found(err, nil, "read the end of the chain")
}

const linkColumns = `kind, aid, amount, reason, at, seq, id, record`

func toLink(r pgx.CollectableRow) (k ledger.Link, err error) {
	err = r.Scan(&k.Kind, &k.AID, &k.Amount, &k.Reason, &k.At, &k.Seq, &k.ID, &k.Record)
	k.At = k.At.UTC()
	return k, err
}

// Links implements ledger.Public.
func (s *Ledger) Links(ctx context.Context, from uint64, n int) ([]ledger.Link, error) {
	rows, err := s.pool.Query(ctx, linksSQL, pgx.NamedArgs{"from": int64(from), "n": n})
	if err != nil {
		return nil, fmt.Errorf("read the chain: %w", err)
	}
	return pgx.CollectRows(rows, toLink)
}

// LinkID implements ledger.Public.
func (s *Ledger) LinkID(ctx context.Context, seq uint64) (id string, err error) {
	err = s.pool.QueryRow(ctx, linkIDSQL, pgx.NamedArgs{"seq": int64(seq)}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, found(err, nil, "read a link of the chain")
}

// Attest implements ledger.Public.
func (s *Ledger) Attest(ctx context.Context, a ledger.Attested) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO attestation (witness, seq, head_id, observed_at, signed) VALUES (@witness, @seq, @head, @at, @signed)
		ON CONFLICT (witness, seq) DO UPDATE SET observed_at = EXCLUDED.observed_at, signed = EXCLUDED.signed
		WHERE attestation.observed_at < EXCLUDED.observed_at`,
		pgx.NamedArgs{"witness": a.Witness, "seq": int64(a.Seq), "head": a.HeadID, "at": a.ObservedAt, "signed": a.Signed})
	return found(err, nil, "keep an attestation")
}

// Attestations implements ledger.Public.
func (s *Ledger) Attestations(ctx context.Context, n int) ([]ledger.Attested, error) {
	rows, err := s.pool.Query(ctx, attestationsSQL, pgx.NamedArgs{"n": n})
	if err != nil {
		return nil, fmt.Errorf("read attestations: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Attested])
}

// Witnesses implements ledger.Public.
func (s *Ledger) Witnesses(ctx context.Context) (w ledger.Witnesses, err error) {
	var latest *time.Time
	var seq *uint64
	err = s.pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(DISTINCT witness::text), '{}'), count(*), max(observed_at), max(seq) FROM attestation`).
		Scan(&w.AIDs, &w.Count, &latest, &seq)
	if w.LatestAt = orZero(latest); seq != nil {
		w.LatestSeq = *seq
	}
	return w, found(err, nil, "sum up the attestations")
}
