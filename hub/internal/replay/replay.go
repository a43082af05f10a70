// Package replay holds the rules of single use: a signed request has its
// effect once, whatever the number of hub processes (wire 2, C.3, step 6).
//
// The one rule its users must know: a Proof is remembered in the transaction of
// the request's effect, never before and never after. Then a request that
// failed inside the hub may be sent again as it is, and one that worked may not.
package replay

import (
	"net/netip"
	"time"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/errs"
)

const (
	// Lifetime is how long after its timestamp a request could still be accepted.
	Lifetime = 5 * time.Minute
	// Clocks is how far the clocks of signers are expected to run ahead. After a
	// crash of the database everything dated before the crash, plus this, is
	// refused; what is dated further ahead is remembered durably.
	Clocks = 2 * time.Second
	// Horizon is the longest an entry lives: a request may be dated Lifetime
	// ahead, and is remembered until Lifetime after its date.
	Horizon = 2 * Lifetime
)

// Proof is a request whose signature was verified, to be used up once. Key is
// the first half of SHA-256(aid 00 sig).
type Proof struct {
	AID      string
	Key      [16]byte
	SignedAt time.Time
	From     netip.Addr // where the request came from, as far as that is known

	// Under is the SHA-256 of the key history that the signature was checked
	// against, if that was meant to be the one on record. It may have been
	// remembered, so using up the proof confirms that it is, and that the agent
	// is registered. A registration brings its history along and leaves it nil.
	Under []byte
	// Again checks the signature against the history that is on record instead.
	// Set where Under is.
	Again func(kel []byte) (Proof, error)
}

// Visitor is who asks, for what blocks it.
func (p Proof) Visitor(now time.Time) moderation.Visitor {
	return moderation.Visitor{AID: p.AID, From: p.From, At: now}
}

// Expires is when the timestamp alone would refuse the request.
func (p Proof) Expires() time.Time { return p.SignedAt.Add(Lifetime) }

// Minute is the minute in which the entry expires. Entries of one minute are
// dropped together. The timestamp is part of what is signed, so a signature has
// one minute only.
func (p Proof) Minute() int64 { return MinuteOf(p.Expires()) }

// Ahead reports whether the signer's clock runs further ahead of now than a
// crash of the database would cover.
func (p Proof) Ahead(now time.Time) bool { return p.SignedAt.After(now.Add(Clocks)) }

// MinuteOf numbers the minutes since 1970.
func MinuteOf(t time.Time) int64 { return t.Unix() / 60 }

// UnknownSigner is the answer to a request signed by an agent that is not, or no
// longer, registered here.
func UnknownSigner() error {
	return errs.New(errs.Unauthorized, "unknown_signer", "the signer is not registered at this hub: register first")
}
