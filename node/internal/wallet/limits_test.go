package wallet

import (
	"math"
	"testing"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/errs"
)

// The limits of K.6, on whose word each kind of payment is made.
func TestDecide(t *testing.T) {
	wide := config.Limits{AutoMax: 5, AgentMax: 6, AgentDailyMax: 20, ExplicitMax: 10, DailyMax: 50, PayeeList: true, Payees: []string{"p"}}
	off := wide
	off.PayeeList = false
	huge := config.Limits{ExplicitMax: math.MaxInt64, DailyMax: math.MaxInt64}
	for _, tt := range []struct {
		name   string
		limits config.Limits
		wish   Wish
		today  Spent
		reason string
	}{
		{"a person, as it comes", config.DefaultLimits(), Wish{Explicit, "anybody", 10}, Spent{}, ""},
		{"a person, too much at once", config.DefaultLimits(), Wish{Explicit, "p", 11}, Spent{}, "payment_over_limit"},
		{"a person, the last of the day", config.DefaultLimits(), Wish{Explicit, "p", 10}, Spent{All: 40}, ""},
		{"a person, too much for the day", config.DefaultLimits(), Wish{Explicit, "p", 10}, Spent{All: 41}, "payment_over_limit"},
		{"a program, as it comes", config.DefaultLimits(), Wish{Agent, "p", 1}, Spent{}, "payment_over_limit"},
		{"nobody's word, as it comes", config.DefaultLimits(), Wish{Auto, "p", 1}, Spent{}, "payment_over_limit"},
		{"a payee on the list", wide, Wish{Auto, "p", 5}, Spent{}, ""},
		{"a payee on no list", wide, Wish{Auto, "q", 5}, Spent{}, "payee_not_listed"},
		{"a payee on no list, a program", wide, Wish{Agent, "q", 5}, Spent{}, "payee_not_listed"},
		{"a payee on no list, a person", wide, Wish{Explicit, "q", 5}, Spent{}, ""},
		{"the list does not count", off, Wish{Auto, "q", 5}, Spent{}, ""},
		{"a program's day", wide, Wish{Agent, "p", 6}, Spent{Tier: 15, All: 15}, "payment_over_limit"},
		{"a program's day does not bind a person", wide, Wish{Explicit, "p", 6}, Spent{Tier: 15, All: 15}, ""},
		{"the day binds everybody", wide, Wish{Auto, "p", 5}, Spent{Tier: 0, All: 46}, "payment_over_limit"},
		{"nothing wraps", huge, Wish{Explicit, "p", math.MaxInt64}, Spent{All: math.MaxInt64}, "payment_over_limit"},
		{"a limit that was lowered", config.Limits{ExplicitMax: 9, DailyMax: 5}, Wish{Explicit, "p", 1}, Spent{All: 7}, "payment_over_limit"},
		{"a tier nobody knows is no person", config.DefaultLimits(), Wish{"odd", "p", 1}, Spent{}, "payment_over_limit"},
	} {
		err := Decide(tt.limits, tt.wish, tt.today)
		if tt.reason == "" && err != nil || tt.reason != "" && !errs.Is(err, tt.reason) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.reason)
		}
	}
}
