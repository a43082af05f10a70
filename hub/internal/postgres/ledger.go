package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/replay"
)

// Ledger keeps the books (ledger.Store).
//
// Locks are taken in one order, so that nobody waits in a circle: the row of
// ledger, where the sum of all balances changes; accounts, by their AIDs; and the
// keys of settlement, of which a transaction takes one row.
type Ledger struct {
	pool   *pgxpool.Pool
	proofs *Replay // nil for operators, who sign no requests
}

// NewLedger makes the store.
func NewLedger(pool *pgxpool.Pool, proofs *Replay) *Ledger {
	return &Ledger{pool: pool, proofs: proofs}
}

// Remember implements ledger.Store.
func (s *Ledger) Remember(ctx context.Context, p replay.Proof) error {
	return s.proofs.Remember(ctx, p)
}

// settlementColumns are what toSettlement reads. They are never NULL, for a row
// that a join did not find.
const settlementColumns = `coalesce(s.auth_id, ''), coalesce(s.payer, ''), coalesce(s.pay_to, ''), coalesce(s.amount, 0),
	coalesce(s.interaction, ''), s.signed, s.receipt, coalesce(s.settled_at, 'epoch'), coalesce(s.capability, ''), s.voucher, coalesce(s.due_to, '')`

func toSettlement(r pgx.Row, more ...any) (s ledger.Settlement, err error) {
	err = r.Scan(append([]any{&s.AuthID, &s.Payer, &s.PayTo, &s.Amount, &s.Interaction, &s.Signed, &s.Receipt, &s.At,
		&s.Capability, &s.Voucher, &s.DueTo}, more...)...)
	s.At = s.At.UTC()
	return s, err
}

var standingOfPaymentSQL = compile(`
	SELECT ` + settlementColumns + `,
	       (SELECT kel FROM member WHERE aid = @payer),
	       NOT EXISTS (SELECT FROM agent WHERE aid = @payer),
	       EXISTS (SELECT FROM block WHERE aid = @payer AND ` + holds + `),
	       coalesce((SELECT balance FROM account WHERE aid = @payer), 0),
	       coalesce((SELECT auth_id FROM settlement b WHERE b.payer = @payer AND b.interaction = @interaction), ''),
	       EXISTS (SELECT FROM account WHERE aid = @pay_to),
	       EXISTS (SELECT FROM member WHERE aid = @pay_to),
	       read_only_since IS NOT NULL
	FROM ledger LEFT JOIN settlement s ON s.auth_id = @auth_id`)

// Standing implements ledger.Store. It is one statement, so that all of it is of
// one moment.
func (s *Ledger) Standing(ctx context.Context, q ledger.Question) (st ledger.Standing, err error) {
	row := s.pool.QueryRow(ctx, standingOfPaymentSQL.sql, standingOfPaymentSQL.bind(pgx.NamedArgs{"auth_id": q.AuthID,
		"payer": q.Payer, "pay_to": q.PayTo, "interaction": orNoText(q.Interaction), "asked_at": q.At})...)
	settled, err := toSettlement(row, &st.KEL, &st.Left, &st.Blocked, &st.Balance, &st.Bound, &st.PayTo, &st.Known, &st.ReadOnly)
	if settled.AuthID != "" {
		st.Settled = &settled
	}
	return st, found(err, nil, "judge a payment")
}

// orNoText stores an empty text as NULL.
func orNoText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// lockPartiesSQL comes first, as a statement of its own: what the next one reads is
// then what the last holder of the locks wrote. In one statement with the rest,
// balances would be checked as they were when it began. Its parameters are two and no
// array, which would be planned anew each time.
var lockPartiesSQL = compile(`SELECT FROM account WHERE aid IN (@payer, @pay_to) ORDER BY aid FOR UPDATE`)

// settling is a whole settlement, of accounts that are locked. Its lines are what it
// does to each of them: one may have two, if it pays itself. The settlement is written
// only if its payer has enough; a key it shares with one that is there already leaves
// everything as it was.
//
// The lines are values, and no arrays: with these PostgreSQL plans the statement anew
// each time, which takes about as long as to carry it out.
func settling(lines string) named {
	return compile(`
	WITH line (aid, delta, reason, i) AS (VALUES ` + lines + `),
	booked AS (
		INSERT INTO settlement (auth_id, payer, pay_to, amount, interaction, signed, receipt, settled_at, capability, voucher, due_to)
		SELECT @auth_id, @payer, @pay_to, @amount, @interaction, @signed, @receipt, @at, @capability, @voucher, @due_to
		WHERE (SELECT balance FROM account WHERE aid = @payer) >= @amount
		  AND NOT EXISTS (SELECT FROM line WHERE NOT EXISTS (SELECT FROM account a WHERE a.aid = line.aid))
		  AND (SELECT read_only_since IS NULL FROM ledger)
		ON CONFLICT DO NOTHING
		RETURNING auth_id),` + postedSQL + `
	SELECT aid, before + row_number() OVER (PARTITION BY aid ORDER BY i), delta, reason, auth_id, @at
	FROM line JOIN moved USING (aid), booked`)
}

var (
	settleSQL = settling(`(@payer::text, -@amount::bigint, '` + ledger.ReasonPaid + `', 1), (@pay_to::text, @amount::bigint, '` + ledger.ReasonReceived + `', 2)`)
	retireSQL = settling(`(@payer::text, -@amount::bigint, @reason::text, 1)`) // credits nobody here
)

// postedSQL moves the balances that lines are of, and goes on with their entries.
const postedSQL = `
	moved AS (
		UPDATE account a SET balance = a.balance + s.delta, entries = a.entries + s.lines
		FROM (SELECT aid, sum(delta)::bigint AS delta, count(*) AS lines FROM line, booked GROUP BY aid) s
		WHERE a.aid = s.aid
		RETURNING a.aid, a.entries - s.lines AS before)
	INSERT INTO account_entry (aid, n, delta, reason, auth_id, at)`

func settleArgs(st ledger.Settlement) pgx.NamedArgs {
	return pgx.NamedArgs{"auth_id": st.AuthID, "payer": st.Payer, "pay_to": st.PayTo, "amount": int64(st.Amount),
		"interaction": orNoText(st.Interaction), "signed": st.Signed, "receipt": st.Receipt, "at": st.At,
		"capability": orNoText(st.Capability), "voucher": st.Voucher, "due_to": orNoText(st.DueTo)}
}

// Settle implements ledger.Store.
func (s *Ledger) Settle(ctx context.Context, st ledger.Settlement) (kept ledger.Settlement, fresh bool, err error) {
	args := settleArgs(st)
	for {
		booked, err := settle(ctx, s.pool, settleSQL, args)
		if err != nil {
			return st, false, fmt.Errorf("settle a payment: %w", err)
		}
		if booked {
			return st, true, nil
		}
		if before, err := s.unsettled(ctx, st); before != nil || err != nil {
			return orEmpty(before), false, err
		}
	}
}

// batcher is a pool, where a batch is a transaction, or a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func settle(ctx context.Context, q batcher, sql named, args pgx.NamedArgs) (booked bool, err error) {
	var b pgx.Batch
	b.Queue(lockPartiesSQL.sql, lockPartiesSQL.bind(args)...)
	b.Queue(sql.sql, sql.bind(args)...)
	answers := q.SendBatch(ctx, &b)
	defer func() { err = errors.Join(err, answers.Close()) }()
	if _, err := answers.Exec(); err != nil {
		return false, err
	}
	tag, err := answers.Exec()
	return tag.RowsAffected() > 0, err
}

func orEmpty(s *ledger.Settlement) ledger.Settlement {
	if s == nil {
		return ledger.Settlement{}
	}
	return *s
}

// unsettled says why a settlement was not booked. Nothing at all means that it may
// be tried again: what stood in its way is gone.
func (s *Ledger) unsettled(ctx context.Context, st ledger.Settlement) (before *ledger.Settlement, err error) {
	now, err := s.Standing(ctx, ledger.Question{AuthID: st.AuthID, Payer: st.Payer, PayTo: st.PayTo, Interaction: st.Interaction, At: st.At})
	switch {
	case err != nil || now.Settled != nil:
		return now.Settled, err
	case now.ReadOnly:
		return nil, ledger.ReadOnly()
	case now.Bound != "":
		return nil, ledger.Bound(now.Bound)
	case now.Balance < st.Amount:
		return nil, ledger.Short()
	case !now.PayTo:
		return nil, s.openAccount(ctx, st.PayTo)
	}
	return nil, nil
}

// openAccount is a transaction of its own: made with a payment, the account would
// be locked out of its order.
func (s *Ledger) openAccount(ctx context.Context, aid string) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO account (aid) VALUES (@aid) ON CONFLICT DO NOTHING`, pgx.NamedArgs{"aid": aid})
	return found(err, nil, "open an account")
}
