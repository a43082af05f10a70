package enckeys

import (
	"crypto/ed25519"
	"math"
	"time"

	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

// The bounds of a set (section D.1). MaxSeq is what a database can hold.
const (
	MaxKeys     = 4
	MaxLifetime = 30 * 24 * time.Hour
	MaxSeq      = math.MaxInt64
)

// Replayer replays a key history; pass a cache's method.
type Replayer func(kel []byte) (*identity.History, error)

// Verify checks a signed set in the order of section D.2. expect is the AID
// the caller already believes in: whom it wants to write to, or who sent an
// authenticated message.
func Verify(raw []byte, expect string, kel []byte, replay Replayer, now time.Time) (Signed, error) {
	s, err := Parse(raw)
	if err != nil {
		return Signed{}, err
	}
	h, err := replay(kel)
	if err != nil {
		return Signed{}, envelope.BadKEL.Errorf("the key history does not replay").Because(err)
	}
	if err := s.VerifyUnder(h, expect, now); err != nil {
		return Signed{}, err
	}
	return s, nil
}

// VerifyUnder is Verify for who holds the history replayed.
func (s Signed) VerifyUnder(h *identity.History, expect string, now time.Time) error {
	if h.AID() != s.Set.AID || s.Set.AID != expect {
		return envelope.AIDMismatch.Errorf("the key set is of %.80q, its key history of %s, and wanted is %.80q", s.Set.AID, h.AID(), expect)
	}
	if err := s.checkSignature(h); err != nil {
		return err
	}
	if err := s.Set.check(); err != nil {
		return err
	}
	if !s.Set.usable(now) {
		return envelope.BadKeySet.Errorf("the key set has no key that can be used now")
	}
	return nil
}

// checkSignature knows no grace: a set is about the present, so a retired key
// cannot sign one, whenever it says it was issued.
func (s Signed) checkSignature(h *identity.History) error {
	if len(s.Sig) != ed25519.SignatureSize {
		return envelope.BadSig.Errorf("the key set's signature is not %d bytes", ed25519.SignatureSize)
	}
	state, ok := h.State(s.KSN)
	switch {
	case !ok:
		return envelope.BadKeyState.Errorf("the key set is signed under key state %d, and there are %d", s.KSN, h.Len())
	case h.Deactivated():
		return envelope.RevokedKey.Errorf("the agent of the key set is deactivated")
	case state.Status != identity.Active:
		return envelope.BadKeyState.Errorf("the key set is signed under key state %d, which is %s", s.KSN, state.Status)
	}
	if err := identity.VerifyObject(h, h.AID(), s.KSN, 0, s.Bytes, s.Sig); err != nil {
		return envelope.BadSig.Errorf("the key set's signature does not hold").Because(err)
	}
	return nil
}

// check holds the structure of section D.1.
func (s Set) check() error {
	switch {
	case s.Type != setType:
		return envelope.BadKeySet.Errorf("the key set is of type %.40q, not %s", s.Type, setType)
	case s.Seq > MaxSeq:
		return envelope.BadKeySet.Errorf("the key set's sequence number is beyond 2^63-1")
	case len(s.Keys) < 1 || len(s.Keys) > MaxKeys:
		return envelope.BadKeySet.Errorf("the key set has %d keys, not 1 to %d", len(s.Keys), MaxKeys)
	}
	for i, k := range s.Keys {
		if err := k.check(); err != nil {
			return err
		}
		if i > 0 && k.NotBefore < s.Keys[i-1].NotBefore {
			return envelope.BadKeySet.Errorf("the key set's keys are not in the order of their times")
		}
		for _, earlier := range s.Keys[:i] {
			if k.KID == earlier.KID {
				return envelope.BadKeySet.Errorf("the key set holds one key twice")
			}
		}
	}
	return nil
}

// check holds one key. Suites this program does not know may come: they are
// never chosen, and their ids still have to be right.
func (k Key) check() error {
	switch {
	case k.Suite < 1 || k.Suite > math.MaxUint8:
		return envelope.BadKeySet.Errorf("the key set has a key of suite %d", k.Suite)
	case len(k.Pub) == 0 || k.Suite == envelope.SuiteX25519 && len(k.Pub) != 32:
		return envelope.BadKeySet.Errorf("the key set has a key of %d bytes in suite %d", len(k.Pub), k.Suite)
	case k.NotAfter <= k.NotBefore || k.NotAfter-k.NotBefore > ms(MaxLifetime):
		return envelope.BadKeySet.Errorf("the key set has a key that would live from %d to %d", k.NotBefore, k.NotAfter)
	}
	if k.KID != NewKID(uint8(k.Suite), k.Pub) {
		return envelope.BadKeySet.Errorf("the key set has a key whose id is another's")
	}
	return nil
}

// usable asks for a key that is good in MaxSkew, so that a set that is about
// to end is not stored as a good one.
func (s Set) usable(now time.Time) bool {
	soon := at(now.Add(envelope.MaxSkew))
	for _, k := range s.Keys {
		if k.NotBefore <= soon && soon < k.NotAfter {
			return true
		}
	}
	return false
}

func at(t time.Time) uint64     { return uint64(max(t.UnixMilli(), 0)) }
func ms(d time.Duration) uint64 { return uint64(d.Milliseconds()) }
