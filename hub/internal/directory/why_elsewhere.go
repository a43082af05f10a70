package directory

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/shared/errs"
)

// gatesElsewhere are those of an agent that is not registered here, and that peers
// tell of.
var gatesElsewhere = []judge{
	{"blocked", notBlocked, false},
	{"peer", isTaught, true},
	{"capability", offersElsewhere, false},
}

func (c whyCase) gates() []judge {
	if c.agent == nil && len(c.taught) > 0 {
		return gatesElsewhere
	}
	return gates
}

// lookElsewhere asks what peers tell of an agent that is not registered here.
func (d *Directory) lookElsewhere(ctx context.Context, aid string, c whyCase) (_ whyCase, err error) {
	if c.taught, err = d.store.Taught(ctx, aid); err != nil {
		return c, err
	}
	e, err := d.store.Elsewhere(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return c, nil
	}
	c.theirs = &e
	return c, err
}

func isTaught(c whyCase) (state, says string, next advice) {
	if c.theirs != nil {
		return ok, "registered at another hub, " + c.theirs.Home + ", as the peer " + c.teacher() + " tells", none
	}
	switch t := c.taught[0]; {
	case c.member != nil && c.member.Hidden:
		return failed, noteHidden, here("anet-hub agent unhide AID")
	case !t.Listed:
		return failed, "the peer " + t.Peer + " tells of it, and lists show nothing that this peer tells: " +
			"it was not heard of for long, or is not learned from any more", here("anet-hub peer show " + t.Peer)
	case t.Stale:
		return failed, "what the peer " + t.Peer + " tells of it was signed under a key history that has grown since",
			there("register again, at its own hub: anet hub-register")
	default:
		return failed, "the peer " + t.Peer + " tells of it, and lists do not show it", none
	}
}

// teacher is the peer whose word lists show.
func (c whyCase) teacher() string {
	i := slices.IndexFunc(c.taught, func(t Taught) bool { return t.Shown })
	return c.taught[max(0, i)].Peer
}

func offersElsewhere(c whyCase) (state, says string, next advice) {
	return offers(c.capID, c.theirs.Caps(), c.theirs.Listed())
}
