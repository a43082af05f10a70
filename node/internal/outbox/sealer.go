package outbox

import (
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// Sealer signs and seals as this node.
type Sealer struct {
	Book *known.Book
	// Signer gives the identity of the moment.
	Signer func() *identity.Controller
	// KeySet is this node's own signed key set: who answers needs it (E.4).
	KeySet func(now time.Time) ([]byte, error)
}

// Seal gives the bytes of a draft and when they expire.
func (s Sealer) Seal(o journal.Outgoing, to known.Identity, now time.Time) ([]byte, time.Time, error) {
	key, err := s.Book.Key(o.Peer, to, now)
	if err != nil {
		return nil, time.Time{}, err
	}
	signer := s.Signer()
	body, err := current(signer, o)
	if err != nil {
		return nil, time.Time{}, err
	}
	keys, err := s.KeySet(now)
	if err != nil {
		return nil, time.Time{}, err
	}
	exp := now.Add(envelope.Lifetime)
	sealed, err := envelope.Seal(signer, envelope.Draft{
		To: o.Peer, Type: o.Type, Ix: o.Task, MID: envelope.MID(o.MID),
		TS: uint64(now.UnixMilli()), Exp: uint64(exp.UnixMilli()), Body: body, Keys: keys,
	}, key)
	return sealed, exp, err
}

// current signs a request anew that waited through a rotation of this node's
// key: its signature counts at the time of the message, which is now.
func current(signer *identity.Controller, o journal.Outgoing) ([]byte, error) {
	if o.Type != task.TypeDelegate {
		return o.Body, nil
	}
	req, err := task.Parse[task.DelegateReq](o.Body)
	if err != nil || req.Envelope == nil || req.Envelope.Seq == signer.Seq() {
		return o.Body, err
	}
	preimage, err := task.DocPreimage(req.TaskDoc)
	if err != nil {
		return nil, err
	}
	env := identity.SignDetached(signer, preimage)
	req.Envelope = &env
	return task.Encode(req)
}
