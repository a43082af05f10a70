package enckeys

import (
	"cmp"
	"crypto/hpke"
	"fmt"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
)

// The policy of a ring (section D.4). A message may be under way for 15 days,
// so a private half outlives its key by that long and no longer: what was
// sealed to it before cannot be opened with a disk found later.
const (
	RotateEvery = 7 * 24 * time.Hour
	KeyLifetime = 14 * 24 * time.Hour
	KeepAfter   = envelope.MaxLifetime
)

// Ring is an agent's keys with their private halves. It is a value: each step
// gives a new one, so that the old stays in use until the new is safely stored.
// The zero ring is empty.
type Ring struct {
	keys []held // ascending NotBefore
	last *Signed
}

type held struct {
	Key
	private hpke.PrivateKey
}

// Advance does what is due: a new key when the newest is a week old or none is
// valid, and the end of those kept long enough. It tells whether anything
// changed and has to be stored.
func (r Ring) Advance(now time.Time) (next Ring, changed bool, err error) {
	next = Ring{keys: slices.DeleteFunc(slices.Clone(r.keys), over(now)), last: r.last}
	changed = len(next.keys) != len(r.keys)
	if next.fresh(now) {
		return next, changed, nil
	}
	k, err := newKey(now)
	if err != nil {
		return r, false, err
	}
	next.keys = append(next.keys, k)
	slices.SortStableFunc(next.keys, func(a, b held) int { return cmp.Compare(a.NotBefore, b.NotBefore) })
	return next, true, nil
}

// over finds keys whose private half has to go.
func over(now time.Time) func(held) bool {
	return func(k held) bool { return at(now) >= k.NotAfter+ms(KeepAfter) }
}

func (r Ring) fresh(now time.Time) bool {
	return slices.ContainsFunc(r.keys, func(k held) bool {
		return k.NotBefore <= at(now) && at(now) < k.NotBefore+ms(RotateEvery)
	})
}

func newKey(now time.Time) (held, error) {
	private, err := envelope.KEM().GenerateKey()
	if err != nil {
		return held{}, fmt.Errorf("make an encryption key: %w", err)
	}
	return hold(private, at(now), at(now.Add(KeyLifetime))), nil
}

func hold(private hpke.PrivateKey, from, until uint64) held {
	pub := private.PublicKey().Bytes()
	return held{Key{NewKID(envelope.SuiteX25519, pub), envelope.SuiteX25519, pub, from, until}, private}
}

// Due is when Advance has something to do next.
func (r Ring) Due() time.Time {
	if len(r.keys) == 0 {
		return time.Time{}
	}
	due := r.keys[len(r.keys)-1].NotBefore + ms(RotateEvery)
	for _, k := range r.keys {
		due = min(due, k.NotAfter+ms(KeepAfter))
	}
	return time.UnixMilli(int64(due))
}

// Private gives the private half of a key while it is kept.
func (r Ring) Private(kid envelope.KID) (hpke.PrivateKey, bool) {
	for _, k := range r.keys {
		if k.KID == kid {
			return k.private, true
		}
	}
	return nil, false
}

// Keys are those to be published now: valid ones, the newest if there are more
// than a set can hold. One from the future, left by a clock that was wrong, is
// kept back.
func (r Ring) Keys(now time.Time) []Key {
	var keys []Key
	for _, k := range r.keys {
		if k.NotBefore <= at(now) && at(now) < k.NotAfter {
			keys = append(keys, k.Key)
		}
	}
	return keys[max(0, len(keys)-MaxKeys):]
}

// Publish gives the signed set to publish. The last one is given again while
// its keys are the present ones; after a rotation of the agent's identity it is
// the same set under a new signature.
func (r Ring) Publish(s envelope.Signer, now time.Time) (Ring, []byte, error) {
	if r.last == nil || r.last.Set.AID != s.AID() || !slices.EqualFunc(r.last.Set.Keys, r.Keys(now), Key.equal) {
		return r.Renew(s, now)
	}
	if r.last.KSN == s.Seq() {
		wire, err := r.last.Wire()
		return r, wire, err
	}
	return r.sign(s, *r.last)
}

// Renew publishes under a new sequence number though the keys are the same:
// for a hub that already has a later set, as after a restore from a backup.
func (r Ring) Renew(s envelope.Signer, now time.Time) (Ring, []byte, error) {
	set := Set{Type: setType, AID: s.AID(), Seq: at(now), Keys: r.Keys(now), IssuedAt: at(now)}
	if len(set.Keys) == 0 {
		return r, nil, envelope.NoUsableKey.Errorf("the ring has no valid key to publish")
	}
	if r.last != nil {
		set.Seq = max(set.Seq, r.last.Set.Seq+1)
	}
	b, err := codec.Marshal(set)
	if err != nil {
		return r, nil, err
	}
	return r.sign(s, Signed{Set: set, Bytes: b})
}

func (r Ring) sign(s envelope.Signer, set Signed) (Ring, []byte, error) {
	set.KSN, set.Sig = s.Seq(), s.Sign(set.Bytes)
	wire, err := set.Wire()
	if err != nil {
		return r, nil, err
	}
	return Ring{keys: r.keys, last: &set}, wire, nil
}

func (k Key) equal(o Key) bool {
	return k.KID == o.KID && k.NotBefore == o.NotBefore && k.NotAfter == o.NotAfter
}
