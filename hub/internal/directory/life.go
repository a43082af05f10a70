package directory

import (
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Life is what an agent's signs of life say about it. Polls and registrations
// are such signs.
type Life struct {
	RegisteredAt time.Time
	LastSeen     time.Time // zero when there was no sign since the registration
}

func (l Life) last() time.Time {
	if l.LastSeen.IsZero() {
		return l.RegisteredAt
	}
	return l.LastSeen
}

// Browsable reports whether lists still show the agent. Nothing is deleted: one
// sign of life brings it back.
func (l Life) Browsable(now time.Time) bool { return now.Sub(l.last()) < wire.HiddenAfter }

// Quiet warns a caller that an answer may take its time.
func (l Life) Quiet(now time.Time) bool { return now.Sub(l.last()) >= wire.QuietAfter }

// Show adds the signs of life to a view.
func (l Life) Show(v *wire.Agent, now time.Time) {
	if !l.LastSeen.IsZero() {
		seen := l.LastSeen.UTC()
		v.LastSeen = &seen
	}
	v.Quiet = l.Quiet(now)
}
