package admission

import (
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Invite lets AIDs in that the hub does not know yet. Each AID uses it once,
// however often it comes back.
type Invite struct {
	ID        string
	Label     string
	MaxUses   int // 0: any number
	Uses      int
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: in force
}

// State is what an invite is good for.
type State string

// The states. A revoked invite stays revoked when its time is over, too.
const (
	Usable  State = "usable"
	Revoked State = "revoked"
	Expired State = "expired"
	UsedUp  State = "used_up"
)

// State tells what an invite is good for to an AID that never used it.
func (i Invite) State(now time.Time) State {
	switch {
	case !i.RevokedAt.IsZero():
		return Revoked
	case !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt):
		return Expired
	case i.MaxUses > 0 && i.Uses >= i.MaxUses:
		return UsedUp
	}
	return Usable
}

// Shown is an invite as one AID meets it.
type Shown struct {
	Invite
	Used bool // by this AID before: to come back with it costs no second use
}

// Door is the hub's rule about AIDs it does not know. The zero value stands open.
type Door struct{ InviteOnly bool }

// Asks reports whether who comes with the token has to be looked up.
func (d Door) Asks(t Token) bool { return d.InviteOnly && t.WellFormed() }

// Admit decides about an AID that is not registered. found is nil where no
// invite has the token. The refusals are the five of wire 2, I.3.
func (d Door) Admit(t Token, found *Shown, now time.Time) error {
	switch {
	case !d.InviteOnly:
		return nil
	case t.IsZero():
		return refusal(wire.InviteRequired)
	case found == nil:
		return refusal(wire.InviteUnknown)
	}
	switch found.State(now) {
	case Revoked:
		return refusal(wire.InviteRevoked)
	case Expired:
		return refusal(wire.InviteExpired)
	case UsedUp:
		if !found.Used {
			return refusal(wire.InviteUsedUp)
		}
	}
	return nil
}

// words are what a refused node is told, and what it can do.
var words = map[string]struct{ sentence, hint string }{
	wire.InviteRequired: {"this hub takes in by invite only", "ask its operator for an invite and register with it"},
	wire.InviteUnknown:  {"this hub knows no such invite", "compare it with what you were given: it must be whole, and from this hub"},
	wire.InviteRevoked:  {"this invite was revoked", "ask the hub's operator for another"},
	wire.InviteExpired:  {"this invite has expired", "ask the hub's operator for another"},
	wire.InviteUsedUp:   {"this invite is used up", "ask the hub's operator for another"},
}

func refusal(invite string) error {
	w := words[invite]
	return errs.New(errs.Forbidden, invite, "%s", w.sentence).In("invite").With("hint", w.hint)
}
