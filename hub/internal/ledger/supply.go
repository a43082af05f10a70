package ledger

import (
	"context"
	"math"
	"time"
)

// Totals are the ledger's counters, and beside them the sum of all balances.
type Totals struct {
	Circulation
	Balances uint64
	Redeemed uint64
	HeadSeq  uint64
	HeadID   string
	OwedTo   uint64 // by peers, to this hub
	Owes     uint64 // to peers
	ReadOnly time.Time
}

// Supply is what is in circulation (wire 2, K.8).
type Supply struct{ Totals }

// Outstanding is what the hub's agents hold, and what it owes elsewhere.
func (s Supply) Outstanding() int64 {
	return int64(s.Balances) + int64(s.Owes) - int64(s.OwedTo)
}

// Chain is what the chain says is in circulation.
func (s Supply) Chain() uint64 { return s.Issued - s.Retired }

// Agrees reports whether accounts hold what the chain says.
func (s Supply) Agrees() bool { return s.Balances == s.Chain() }

// supplyFor is how long a sum over all accounts may be shown: anybody may ask, and
// it reads every account.
const supplyFor = 5 * time.Second

// Supply reads the supply, at most a few seconds old, or more where reading it takes
// long.
func (l *Ledger) Supply(ctx context.Context) (Supply, error) {
	return l.supply.get(ctx, l.Now, func(ctx context.Context) (Supply, error) {
		t, err := l.Store.Totals(ctx)
		return Supply{t}, err
	})
}

// Issuance gives the chain from a number on. Beyond what can be counted there is
// nothing, and that is no error.
func (l *Ledger) Issuance(ctx context.Context, from uint64) ([]Link, error) {
	if from > math.MaxInt64 {
		return nil, nil
	}
	return l.Store.Links(ctx, max(from, 1), ChainPage)
}

// Head is the end of the chain.
func (l *Ledger) Head(ctx context.Context) (seq uint64, id string, err error) {
	return l.Store.Head(ctx)
}
