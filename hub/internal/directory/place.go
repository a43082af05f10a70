package directory

import (
	"cmp"
	"math"
	"time"
)

// Place is a position in the order of lists. Ranks are negated, so that all of
// it ascends and one row comparison continues a list.
type Place struct {
	Cap          string // the capability an agent is shown at; empty outside prefix lists
	Rating       int32  // -1,000,000 times the mean rating
	Reviews      int32  // minus their number
	RegisteredAt time.Time
	AID          string
}

// start is before every place of a capability.
func start(capID string) Place {
	return Place{Cap: capID, Rating: math.MinInt32, Reviews: math.MinInt32}
}

// ByRank orders places as lists do, whatever capability they stand at.
func ByRank(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Rating, b.Rating), cmp.Compare(a.Reviews, b.Reviews),
		a.RegisteredAt.Compare(b.RegisteredAt), cmp.Compare(a.AID, b.AID))
}
