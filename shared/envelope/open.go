package envelope

import (
	"crypto/hpke"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

// How long a message may live, how far clocks may differ, and how long after a
// rotation the older key's last messages still count (section E.7).
const (
	MaxLifetime  = 15 * 24 * time.Hour
	Lifetime     = 14 * 24 * time.Hour // what this program asks for
	MaxSkew      = 5 * time.Minute
	DefaultGrace = time.Hour
)

// Keys gives the private half of a key while it is held.
type Keys interface {
	Private(kid KID) (hpke.PrivateKey, bool)
}

// Open parses an envelope, opens it and parses what is inside: steps 1 to 4 of
// section E.10. self is the AID the keys belong to.
func Open(wire []byte, self string, keys Keys) (*Message, error) {
	o, err := ParseOuter(wire)
	if err != nil {
		return nil, err
	}
	if err := o.CheckTo(self); err != nil {
		return nil, err
	}
	k, ok := keys.Private(o.KID)
	if !ok {
		return nil, SealedToUnknownKey.Errorf("the envelope is sealed to the key %s, which is not held", o.KID)
	}
	plain, err := o.decrypt(k)
	if err != nil {
		return nil, err
	}
	return parseInner(plain, o)
}

// CheckTime holds the message's life against the clock.
func (m *Message) CheckTime(now time.Time) error {
	at := ms(now)
	switch {
	case m.Exp < m.TS || m.Exp-m.TS > uint64(MaxLifetime.Milliseconds()):
		return BadLifetime.Errorf("the message would live from %d to %d", m.TS, m.Exp)
	case at > m.Exp:
		return Expired.Errorf("the message expired at %d", m.Exp)
	case m.TS > at+uint64(MaxSkew.Milliseconds()):
		return FromFuture.Errorf("the message is dated %d, and now is %d", m.TS, at)
	}
	return nil
}

// Replay replays the key history the message carries and holds it to be the
// sender's. Pass a cache's Replay: a peer writes more than once.
func (m *Message) Replay(replay func([]byte) (*identity.History, error)) (*identity.History, error) {
	h, err := replay(m.KEL)
	if err != nil {
		return nil, BadKEL.Errorf("the sender's key history does not replay").Because(err)
	}
	return h, m.checkFrom(h)
}

func (m *Message) checkFrom(h *identity.History) error {
	if h == nil || h.AID() != m.From {
		return FromMismatch.Errorf("the message is from %.80q, and the key history is another agent's", m.From)
	}
	return nil
}

// VerifyInnerSig checks the signature under the resolved history of the sender.
// A key that was rotated away still counts for grace, so that messages under
// way survive a rotation and a stolen old key does not live on.
func (m *Message) VerifyInnerSig(h *identity.History, now time.Time, grace time.Duration) error {
	if m.TS == 0 {
		return BadSig.Errorf("the message is not dated")
	}
	if err := m.checkFrom(h); err != nil {
		return err
	}
	state, ok := h.State(m.KSN)
	if !ok {
		return BadKeyState.Errorf("the message is signed under key state %d, and there are %d", m.KSN, h.Len())
	}
	if err := identity.VerifyObject(h, m.From, m.KSN, m.TS, m.Preimage(), m.sig); err != nil {
		return refused(err)
	}
	if at := ms(now); state.Status != identity.Active && at > state.SupersededAt && at-state.SupersededAt > uint64(grace.Milliseconds()) {
		return RotationGraceExpired.Errorf("the message is signed with a key that retired at %d", state.SupersededAt)
	}
	return nil
}

func refused(err error) error {
	if identity.CodeOf(err) == identity.RevokedKey {
		return RevokedKey.Errorf("the message is signed with a key that no longer counts").Because(err)
	}
	return BadSig.Errorf("the message's signature does not hold").Because(err)
}

// Preimage is what the sender signed.
func (m *Message) Preimage() []byte { return m.members.preimage(m.outer) }

// preimage is every member as it was received, without the signature and the
// padding, bound to the key it was sealed to: nobody can seal it again for
// somebody else under this signature (section E.5).
func (m members) preimage(o Outer) []byte {
	signed := members{
		keyLabel: textItem("anet-relay-sig/v1"), keyEnc: bytesItem(o.Enc),
		keyKID: bytesItem(o.KID[:]), keySuite: uintItem(o.Suite),
	}
	for k, v := range m {
		if k != keySig && k != keyPad {
			signed[k] = v
		}
	}
	return signed.encode()
}

func ms(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) }
