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

// gatesHereToo are those of an agent that is registered here, and that peers tell
// of as well.
var gatesHereToo = slices.Concat(gates, []judge{{"peer", isHereAlone, false}})

func (c whyCase) gates() []judge {
	switch {
	case len(c.taught) == 0:
		return gates
	case c.agent == nil:
		return gatesElsewhere
	}
	return gatesHereToo
}

// isHereAlone warns of an agent that two hubs have: nothing a peer tells of it is
// taken as long as it stays.
func isHereAlone(c whyCase) (state, says string, next advice) {
	return warning, "the peer " + c.taught[0].Peer + " tells of it, too: what counts here is its record here, and its mail lies at whichever hub " +
		"the sender asks; leave one of both: anet hub-leave, or anet join URL --move", none
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
	case t.Held != "":
		return failed, "the peer " + t.Peer + " tells of it, and what it says is not taken for now: " + t.Held, here("wait, it is asked again; anet-hub peer show " + t.Peer)
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
