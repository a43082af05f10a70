package admission

import (
	"context"
	"crypto/rand"
	"math"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
)

// Desk is where an operator makes and revokes invites.
type Desk struct {
	store Invites
	now   func() time.Time
}

// NewDesk makes a desk over its store.
func NewDesk(store Invites, now func() time.Time) *Desk { return &Desk{store: store, now: now} }

// Invites keeps invites. An id nobody has is a NotFound error, reason
// invite_unknown. Changes write their act in the same transaction.
type Invites interface {
	// Add stores a new invite under the hash of its token.
	Add(ctx context.Context, i Invite, hash string, act audit.Act) error
	// All gives every invite, the newest first.
	All(ctx context.Context) ([]Invite, error)
	// Invite gives one with who came in by it, the first to come first.
	Invite(ctx context.Context, id string) (Invite, []Redeemer, error)
	// ByToken gives the invite of a token's hash, nil when there is none.
	ByToken(ctx context.Context, hash string) (*Invite, error)
	// Revoke ends an invite that is in force; one revoked before is a Conflict,
	// reason invite_revoked, and keeps its time. With block it blocks who
	// came in by it, too, for good, and names those.
	Revoke(ctx context.Context, id string, block bool, act audit.Act) (blocked []string, err error)
}

// Redeemer is an AID that came in by an invite. It stays one, whatever becomes
// of it later.
type Redeemer struct {
	AID        string
	At         time.Time
	Name       string // empty where it is registered no more
	Registered bool
	Blocked    bool
	ForGood    bool // blocked without an end
}

// Order is an invite to be made.
type Order struct {
	Uses  int           // 0: any number
	For   time.Duration // 0: no end
	Label string
}

const (
	maxLabel = 128 // bytes
	maxFor   = 100 * 365 * 24 * time.Hour
)

func (o Order) check() error {
	switch {
	case o.Uses < 0 || o.Uses > math.MaxInt32:
		return errs.New(errs.Invalid, "uses_invalid", "uses is a number from 1, or 0 for any number").In("uses")
	case o.For < 0 || o.For > maxFor:
		return errs.New(errs.Invalid, "expires_invalid", "an invite ends after some time within a hundred years, or never").In("expires")
	case len(o.Label) > maxLabel || !utf8.ValidString(o.Label) || !printable(o.Label):
		return errs.New(errs.Invalid, "label_invalid", "a label is one line of %d bytes at most", maxLabel).In("label")
	case MentionsToken(o.Label):
		return errs.New(errs.Invalid, "label_invalid", "a label is shown: an invite's token must not stand in it").In("label")
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Make makes an invite. The token is not to be had again.
func (d *Desk) Make(ctx context.Context, o Order, by audit.By) (Invite, Token, error) {
	if err := o.check(); err != nil {
		return Invite{}, Token{}, err
	}
	now := d.now().UTC().Truncate(time.Microsecond)
	i := Invite{Label: o.Label, MaxUses: o.Uses, CreatedAt: now}
	if o.For > 0 {
		i.ExpiresAt = now.Add(o.For)
	}
	token, err := newToken(rand.Reader)
	if err == nil {
		i.ID, err = newID(rand.Reader)
	}
	if err != nil {
		return Invite{}, Token{}, err
	}
	act := by.Did("invite.create", i.ID, now).With("uses", i.MaxUses).With("label", i.Label)
	return i, token, d.store.Add(ctx, i, token.Hash(), act)
}

// List gives every invite, the newest first.
func (d *Desk) List(ctx context.Context) ([]Invite, error) { return d.store.All(ctx) }

// Show gives an invite and who came in by it.
func (d *Desk) Show(ctx context.Context, id string) (Invite, []Redeemer, error) {
	if !ValidID(id) {
		return Invite{}, nil, NoSuchInvite()
	}
	return d.store.Invite(ctx, id)
}

// Check tells who holds a token what an AID that never used it would be told.
// The invite is nil where there is none; err is the refusal.
func (d *Desk) Check(ctx context.Context, t Token) (*Invite, error) {
	var shown *Shown
	if door := (Door{InviteOnly: true}); door.Asks(t) {
		found, err := d.store.ByToken(ctx, t.Hash())
		if err != nil {
			return nil, err
		}
		if found != nil {
			shown = &Shown{Invite: *found}
		}
	}
	refused := Door{InviteOnly: true}.Admit(t, shown, d.now())
	if shown == nil {
		return nil, refused
	}
	return &shown.Invite, refused
}

// Revoke ends an invite. Who came in by it stays, unless block says otherwise.
func (d *Desk) Revoke(ctx context.Context, id string, block bool, by audit.By) (blocked []string, err error) {
	if !ValidID(id) {
		return nil, NoSuchInvite()
	}
	return d.store.Revoke(ctx, id, block, by.Did("invite.revoke", id, d.now()))
}

// NoSuchInvite is the failure of an id nobody has. It doesn't repeat the id:
// that may be a token in the wrong place.
func NoSuchInvite() error {
	return errs.New(errs.NotFound, "invite_unknown", "no invite has this id: see anet-hub invite list").In("id")
}

// AlreadyRevoked is the failure of a second revocation.
func AlreadyRevoked(at time.Time) error {
	return errs.New(errs.Conflict, "invite_revoked", "this invite was revoked already, at %s", at.UTC().Format(time.RFC3339))
}
