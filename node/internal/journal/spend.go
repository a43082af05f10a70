package journal

import (
	"time"

	"github.com/anet-hub/anet/shared/payment"
)

// SpendState is what became of an authorization of this node.
type SpendState string

// The states. Open may become any other, failed one of the next two, and these
// stay: a provider's word is none of the ledger's.
const (
	SpendOpen   SpendState = "open"   // signed; whether it moved is not known
	SpendFailed SpendState = "failed" // the provider says that nothing moved
	SpendPaid   SpendState = "paid"   // the ledger's receipt was verified
	SpendVoid   SpendState = "void"   // the ledger says that nothing moved, and nothing can
)

// SpendGrace is how long past its end an authorization may still be taken: by a
// ledger whose clock is behind, beside the skew that all of them allow.
const SpendGrace = payment.Skew + time.Minute

// Spend is an authorization that this node signed.
type Spend struct {
	AuthID, Task, Payee string
	Amount              uint64
	Network, Tier       string
	Accepted            []byte // the option it pays, as JSON
	Signed              []byte
	NotAfter            time.Time
	State               SpendState
	Reason              string
	Receipt             []byte // verified
	Unverified          []byte // what was shown as receipts and did not hold, as JSON
	Created, Ended      time.Time
}

const spendColumns = `auth_id, task, payee, amount, network, tier, accepted, signed, not_after, state, reason, receipt, unverified, created_at, ended_at`

func scanSpend(row scanner) (s Spend, err error) {
	var amount, until, created, ended int64
	err = row.Scan(&s.AuthID, &s.Task, &s.Payee, &amount, &s.Network, &s.Tier, &s.Accepted, &s.Signed, &until, &s.State, &s.Reason,
		&s.Receipt, &s.Unverified, &created, &ended)
	s.Amount, s.NotAfter, s.Created, s.Ended = uint64(amount), at(until), at(created), at(ended)
	return s, err
}

// PutSpend inserts or replaces one.
func (t *Tx) PutSpend(s Spend) error {
	if s.Created.IsZero() {
		s.Created = t.now
	}
	err := t.exec(`INSERT INTO spend (`+spendColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (auth_id) DO UPDATE SET state = excluded.state, reason = excluded.reason, receipt = excluded.receipt,
			unverified = excluded.unverified, ended_at = excluded.ended_at`,
		s.AuthID, s.Task, s.Payee, int64(s.Amount), s.Network, s.Tier, s.Accepted, s.Signed, ms(s.NotAfter), s.State, s.Reason,
		s.Receipt, s.Unverified, ms(s.Created), ms(s.Ended))
	if err != nil {
		return err
	}
	return t.bump(s.Task)
}

// Spends lists what was signed for a task, the latest first.
func (t *Tx) Spends(task string) ([]Spend, error) {
	return collect(t, scanSpend, `SELECT `+spendColumns+` FROM spend WHERE task = ? ORDER BY created_at DESC, auth_id`, task)
}

// Spent is what counts as spent since then, on the word of one tier or, where it
// is empty, of all. What a provider says has failed counts until the ledger says so,
// too: who settles and denies it would be paid beyond every limit.
func (t *Tx) Spent(since time.Time, tier string) (uint64, error) {
	var n int64
	_, err := t.one(`SELECT coalesce(sum(amount), 0) FROM spend WHERE created_at >= ?1 AND (?2 = '' OR tier = ?2) AND state <> 'void'`,
		[]any{ms(since), tier}, &n)
	return uint64(n), err
}

// spendMemory is how long the ledger is asked what became of one: where it has not
// said by then it never will.
const spendMemory = 7 * 24 * time.Hour

// unproven are the authorizations that a ledger is to be asked about, as it is the
// only one who knows.
const unproven = ` FROM spend WHERE state IN ('open', 'failed') AND network = ? AND not_after > ?`

// Lapsed lists those of a network that nobody can use any more and of which its
// ledger has not said what became of them.
func (t *Tx) Lapsed(network string) ([]Spend, error) {
	return collect(t, scanSpend, `SELECT `+spendColumns+unproven+` AND not_after <= ? ORDER BY not_after LIMIT 50`,
		network, ms(t.now.Add(-spendMemory)), ms(t.now.Add(-SpendGrace)))
}

// Redemption is credits of this node that it takes out of circulation.
type Redemption struct {
	AuthID         string
	Amount         uint64
	Reference      string
	Payload        []byte // the x402 payload, as JSON
	Receipt        []byte
	Created, Ended time.Time // Ended when the hub took it
}

// PutRedemption inserts or replaces one.
func (t *Tx) PutRedemption(r Redemption) error {
	return t.exec(`INSERT INTO redemption (auth_id, amount, reference, payload, receipt, created_at, ended_at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (auth_id) DO UPDATE SET receipt = excluded.receipt, ended_at = excluded.ended_at`,
		r.AuthID, int64(r.Amount), r.Reference, r.Payload, r.Receipt, ms(r.Created), ms(r.Ended))
}

// OpenRedemption finds the redemption of a reference whose outcome is not known.
func (t *Tx) OpenRedemption(reference string) (r Redemption, found bool, err error) {
	var amount, created int64
	found, err = t.one(`SELECT auth_id, amount, payload, created_at FROM redemption WHERE reference = ? AND ended_at = 0`,
		[]any{reference}, &r.AuthID, &amount, &r.Payload, &created)
	r.Amount, r.Reference, r.Created = uint64(amount), reference, at(created)
	return r, found, err
}

// DropRedemption forgets one that the hub certainly did not take.
func (t *Tx) DropRedemption(authID string) error {
	return t.exec(`DELETE FROM redemption WHERE auth_id = ? AND ended_at = 0`, authID)
}
