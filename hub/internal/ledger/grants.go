package ledger

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// Grants are booked in batches: each is a link of one chain, and registrations
// would queue for its end.
const (
	grantsEvery  = 500 * time.Millisecond
	grantsAtOnce = 500
)

// Run books registration grants until ctx ends. Any number of processes may run
// it; a batch that one holds is waited for by the others, and gone then.
func (l *Ledger) Run(ctx context.Context) error {
	return upkeep.Every(ctx, grantsEvery, l.Log, "registration grants were not booked, trying again", l.BookGrants)
}

// BookGrants books all that are due.
func (l *Ledger) BookGrants(ctx context.Context) error {
	for {
		due, readOnly, err := l.Store.GrantsDue(ctx)
		if err != nil {
			return err
		}
		l.metrics.waiting(due, readOnly)
		switch {
		case readOnly:
			return ReadOnly()
		case due == 0:
			return nil
		}
		taken, err := l.Store.BookGrants(ctx, l.Grants, grantsAtOnce, l.now(), l.seal)
		if err != nil || taken == 0 {
			return err
		}
		l.metrics.granted.Add(float64(taken))
	}
}

// RegistrationGrants are the grants of one batch.
func RegistrationGrants(aids []string, amount uint64, at time.Time) []Issue {
	issues := make([]Issue, len(aids))
	for i, aid := range aids {
		issues[i] = Issue{Kind: Issued, AID: aid, Amount: amount, Reason: ReasonRegistration, At: at}
	}
	return issues
}
