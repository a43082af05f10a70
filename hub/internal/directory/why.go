package directory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// whyCase is what is known of an agent when somebody asks why lists show it, or
// not.
type whyCase struct {
	refused error // by a block
	member  *Member
	agent   *Agent
	life    Life
	badCard error // the card on record no longer verifies
	capID   string
	horizon Horizon

	taught []Taught   // who tells of it
	theirs *Elsewhere // what lists show of that
}

// judge is a gate: what it says, and what to do where it is not passed.
type judge struct {
	gate string
	of   func(c whyCase) (state, says string, next advice)
	ends bool // where this one fails, nothing can be said of those behind it
}

// advice is what to do, to the agent and to the hub's operator: each can do what
// the other has to be asked for.
type advice struct{ agent, operator string }

var none advice

// there is for what only the agent's side can do.
func there(what string) advice { return advice{what, "at the node: " + what} }

// here is for what only the hub's operator can do.
func here(what string) advice { return advice{"ask the hub's operator", what} }

// The gates, in the order in which they are to be mended: who is blocked cannot
// register, who is not registered offers nothing, and so on.
var gates = []judge{
	{"blocked", notBlocked, false},
	{"known", isKnown, true},
	{"admitted", isAdmitted, true},
	{"visible", isVisible, false},
	{"card", hasCard, false},
	{"capability", offersCapability, false},
	{"public", reaches, false},
	{"quiet", isHeard, false},
	{"hidden", isBrowsable, false},
}

const (
	ok      = wire.GatePassed
	failed  = wire.GateFailed
	warning = wire.GateWarning
)

func notBlocked(c whyCase) (state, says string, next advice) {
	if c.refused != nil {
		return failed, errs.As(c.refused).Message, here("anet-hub block list shows it, anet-hub agent unblock AID lifts it")
	}
	return ok, "the AID is not blocked", none
}

func isKnown(c whyCase) (state, says string, next advice) {
	if c.member == nil {
		return failed, "this AID never registered at this hub", there("register: anet join, then anet up")
	}
	return ok, "known since " + stamp(c.member.FirstSeen), none
}

func isAdmitted(c whyCase) (state, says string, next advice) {
	if c.agent == nil {
		return failed, "it left, or was removed, and has not registered again", there("register again: anet hub-register")
	}
	return ok, "registered since " + stamp(c.agent.RegisteredAt), none
}

func isVisible(c whyCase) (state, says string, next advice) {
	if c.agent.Hidden {
		return failed, noteHidden, here("anet-hub agent unhide AID")
	}
	return ok, "not hidden by the hub's operator", none
}

func hasCard(c whyCase) (state, says string, next advice) {
	switch {
	case c.badCard != nil:
		return warning, "the card on record does not verify any more: " + c.badCard.Error(), there("register again: anet hub-register")
	case c.agent.Card.Name != "" || len(c.agent.Card.Skills) > 0:
		return ok, fmt.Sprintf("an admitted card with %d skills", len(c.agent.Card.Skills)), none
	case c.member.CardMark != nil:
		return warning, "the card was withdrawn or dropped: ids stand as the registration's word", there("anet status shows what became of the last one")
	}
	return ok, "no card: ids stand as the registration's word", none
}

func offersCapability(c whyCase) (state, says string, next advice) {
	return offers(c.capID, c.agent.Caps(), c.agent.offers())
}

// offers judges what an agent offers, at a capability where one is asked about.
func offers(capID string, caps []string, anything bool) (state, says string, next advice) {
	switch {
	case capID == "" && !anything:
		return failed, "it offers nothing: no capability and no profile",
			there("serve something, open it in inbound.public_capabilities, and register again")
	case capID == "":
		return ok, fmt.Sprintf("it offers %d ids", len(caps)), none
	case slices.Contains(caps, capID):
		return ok, "it offers " + capID, none
	}
	says = fmt.Sprintf("it does not offer %s; its %d ids begin with: %s", capID, len(caps), strings.Join(caps[:min(len(caps), 5)], ", "))
	return failed, says, there("serve it, open it in inbound.public_capabilities, and register again; anet status tells the difference")
}

func reaches(c whyCase) (state, says string, next advice) {
	if c.agent.Visibility == HubLocal {
		return ok, "hub-local: this hub lists it, and tells no other", none
	}
	return ok, string(c.agent.Visibility) + ": other hubs may learn of it", none
}

func isHeard(c whyCase) (state, says string, next advice) {
	last := "last heard of at " + stamp(c.life.Last())
	if c.life.Quiet(c.horizon) {
		return warning, last, there("see whether the node runs and reaches the hub: anet doctor")
	}
	return ok, last, none
}

func isBrowsable(c whyCase) (state, says string, next advice) {
	if !c.life.Browsable(c.horizon) {
		return failed, "it has not polled for so long that lists leave it out", there("start the node: one poll brings it back")
	}
	return ok, "heard of lately enough", none
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// AskWhy is Why for the agent itself.
func (d *Directory) AskWhy(ctx context.Context, p replay.Proof, capID string) (wire.Why, error) {
	if err := d.store.Remember(ctx, p); err != nil {
		return wire.Why{}, err
	}
	return d.why(ctx, p.AID, capID, func(a advice) string { return a.agent })
}

// Why walks everything that decides whether lists show an agent, at a capability
// where one is named. What to do is told to the hub's operator.
func (d *Directory) Why(ctx context.Context, aid, capID string) (wire.Why, error) {
	return d.why(ctx, aid, capID, func(a advice) string { return a.operator })
}

func (d *Directory) why(ctx context.Context, aid, capID string, to func(advice) string) (wire.Why, error) {
	if err := CheckAID(aid); err != nil {
		return wire.Why{}, err
	}
	if capID != "" && !capability.Keepable(capID) {
		return wire.Why{}, errs.New(errs.Invalid, "cap_invalid", "cap is one capability id, whole and without a wildcard").In("cap")
	}
	c, err := d.look(ctx, aid)
	if err != nil {
		return wire.Why{}, err
	}
	c.capID = capID
	return c.walk(aid, to), nil
}

func (d *Directory) look(ctx context.Context, aid string) (c whyCase, err error) {
	now := d.now()
	c.horizon = d.life.Horizon(now)
	if c.refused = d.store.Refused(ctx, moderation.Visitor{AID: aid, At: now}); c.refused != nil && errs.KindOf(c.refused) != errs.Forbidden {
		return c, c.refused
	}
	m, registered, err := d.store.Member(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return d.lookElsewhere(ctx, aid, c)
	}
	if c.member = &m; err != nil {
		return c, err
	}
	if !registered {
		return d.lookElsewhere(ctx, aid, c)
	}
	a, life, err := d.store.Agent(ctx, aid)
	if errs.KindOf(err) == errs.NotFound { // it left a moment ago
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.agent, c.life = &a, life
	if c.taught, err = d.store.Taught(ctx, aid); err != nil {
		return c, err
	}
	raw, err := d.store.Card(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return c, nil
	}
	c.badCard = d.vetCard(ctx, aid, raw, m.KEL).err
	return c, err
}

func (c whyCase) walk(aid string, to func(advice) string) wire.Why {
	out := wire.Why{AID: aid, Cap: c.capID, Gates: []wire.Gate{}}
	for _, g := range c.gates() {
		state, says, next := g.of(c)
		out.Gates = append(out.Gates, wire.Gate{Gate: g.gate, State: state, Says: says})
		if state == failed && out.Gate == "" {
			out.Gate, out.Reason, out.Hint = g.gate, says, to(next)
		}
		if state == failed && g.ends {
			break
		}
	}
	out.Listed = out.Gate == ""
	return out
}
