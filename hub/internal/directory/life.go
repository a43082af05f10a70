package directory

import (
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Ages say after how long without a sign of life an agent is quiet, and left out
// of lists.
type Ages struct{ Quiet, Hidden time.Duration }

// UsualAges are those of wire 2, I.5.
var UsualAges = Ages{Quiet: wire.QuietAfter, Hidden: wire.HiddenAfter}

// Horizon is what these ages come down to at a time.
func (a Ages) Horizon(now time.Time) Horizon {
	return Horizon{Quiet: now.Add(-a.Quiet), Hidden: now.Add(-a.Hidden)}
}

// Horizon says when an agent that is quiet, or hidden, was last heard of at the
// latest.
type Horizon struct{ Quiet, Hidden time.Time }

// Life is what an agent's signs of life say about it. Polls and registrations
// are such signs.
type Life struct {
	RegisteredAt time.Time
	LastSeen     time.Time // zero when there was no sign since the registration
}

// Last is the last sign of life there was.
func (l Life) Last() time.Time {
	if l.LastSeen.IsZero() {
		return l.RegisteredAt
	}
	return l.LastSeen
}

// Browsable reports whether lists still show the agent. Nothing is deleted: one
// sign of life brings it back.
func (l Life) Browsable(h Horizon) bool { return l.Last().After(h.Hidden) }

// Quiet warns a caller that an answer may take its time.
func (l Life) Quiet(h Horizon) bool { return !l.Last().After(h.Quiet) }

// Show adds the signs of life to a view.
func (l Life) Show(v *wire.Agent, h Horizon) {
	if !l.LastSeen.IsZero() {
		seen := l.LastSeen.UTC()
		v.LastSeen = &seen
	}
	v.Quiet = l.Quiet(h)
}
