package outbox

import (
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

// Sealer signs and seals as this node.
type Sealer struct {
	Book *known.Book
	// Signer gives the identity of the moment.
	Signer func() *identity.Controller
	// KeySet is this node's own signed key set: who answers needs it (E.4).
	KeySet func(now time.Time) ([]byte, error)
}

// Seal signs and seals a message by the key of the moment. It is dated when it
// was posted, whenever it is sealed: what was signed inside it before a rotation
// counts at that time, and its lifetime does not begin anew.
func (s Sealer) Seal(o *journal.Outgoing, to known.Identity, now time.Time) error {
	key, err := s.Book.Key(o.Peer, to, now)
	if err != nil {
		return err
	}
	keys, err := s.KeySet(now)
	if err != nil {
		return err
	}
	signer := s.Signer()
	sealed, err := envelope.Seal(signer, envelope.Draft{
		To: o.Peer, Type: o.Type, Ix: o.Task, MID: envelope.MID(o.MID),
		TS: uint64(o.Exp.Add(-envelope.Lifetime).UnixMilli()), Exp: uint64(o.Exp.UnixMilli()), Body: o.Body, Keys: keys,
	}, key)
	if err == nil {
		o.Sealed, o.KSN = sealed, signer.Seq()
	}
	return err
}

// stale reports whether the bytes are signed by a key that was rotated away:
// they would die with its grace, an hour later, wherever they wait (E.7).
func (s Sealer) stale(o journal.Outgoing) bool { return o.Sealed != nil && o.KSN != s.Signer().Seq() }
