package wallet

import (
	"slices"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Tier is on whose word something is paid.
type Tier string

// The tiers, from nobody's word to a person's.
const (
	Auto     Tier = "auto"
	Agent    Tier = "agent"
	Explicit Tier = "explicit"
)

// Known reports whether it is one of them.
func (t Tier) Known() bool { return t == Auto || t == Agent || t == Explicit }

// Wish is one payment that is to be made.
type Wish struct {
	Tier   Tier
	Payee  string
	Amount uint64
}

// Spent is what was spent today: on the word of the wish's tier, and in all.
type Spent struct{ Tier, All uint64 }

// Decide holds a payment to the limits. The first that it breaks is told, with
// what would widen it.
func Decide(l config.Limits, w Wish, today Spent) error {
	most, key := uint64(0), "explicit-max" // on nobody's word nothing is paid
	switch w.Tier {
	case Explicit:
		most = l.ExplicitMax
	case Auto:
		most, key = l.AutoMax, "auto-max"
	case Agent:
		most, key = l.AgentMax, "agent-max"
	}
	switch {
	case w.Amount > most:
		return over("%d credits are more than the %d that one payment of this kind may have; to widen it: anet payments set --%s N", w.Amount, most, key)
	case w.Tier != Explicit && l.PayeeList && !slices.Contains(l.Payees, w.Payee):
		return errs.New(errs.Forbidden, string(task.PayeeNotListed),
			"%s is not on the list of payees; to put it there: anet payees add %[1]s", w.Payee)
	case w.Tier == Agent && beyond(l.AgentDailyMax, today.Tier, w.Amount):
		return over("programs have signed for %d credits today and may spend %d; to widen it: anet payments set --agent-daily-max N", today.Tier, l.AgentDailyMax)
	case beyond(l.DailyMax, today.All, w.Amount):
		return over("this node has signed for %d credits today and may spend %d; to widen it: anet payments set --daily-max N", today.All, l.DailyMax)
	}
	return nil
}

// beyond adds nothing up, so that nothing wraps.
func beyond(most, spent, more uint64) bool { return spent > most || more > most-spent }

func over(format string, args ...any) error {
	return errs.New(errs.Forbidden, string(task.PaymentOverLimit), format, args...)
}
