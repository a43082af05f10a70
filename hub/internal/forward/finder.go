package forward

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// KeyCarrier asks peers for keys.
type KeyCarrier interface {
	// Keys fails as Carrier.Forward does. Nothing of the answer is proven.
	Keys(ctx context.Context, p peers.Peer, aid string) (wire.FedKeys, error)
}

// Locals are the agents that this hub answers for by itself.
type Locals interface {
	// Local reports whether an AID is registered here, or blocked: then other hubs
	// are not asked for it.
	Local(ctx context.Context, aid string, now time.Time) (bool, error)
}

// Search is what a Finder stands on. All of it is required.
type Search struct {
	Table    Table
	Circuits Circuits
	Carrier  KeyCarrier
	Locals   Locals
	Rate     *admission.Limiter // by the address that asks
	Now      func() time.Time
}

// Finder finds the keys of agents that other hubs have. It stores nothing.
type Finder struct{ Search }

// NewFinder makes one.
func NewFinder(s Search) *Finder { return &Finder{s} }

// Keys asks peers, in the order of the table, for the keys of an agent that is not
// registered here, and gives the first that are the agent's: whoever asked
// verifies them again. What is asked for costs peers something, so each address
// has a rate. It fails with directory.KeysUnknown where nobody has them.
func (f *Finder) Keys(ctx context.Context, aid, address string) (keyset, kel []byte, err error) {
	list := askable(f.Table)
	if len(list) == 0 || !identity.ValidAID(aid) {
		return nil, nil, directory.KeysUnknown()
	}
	local, err := f.Locals.Local(ctx, aid, f.Now())
	switch {
	case err != nil:
		return nil, nil, err
	case local:
		return nil, nil, directory.KeysUnknown()
	}
	if err := f.Rate.Take(address); err != nil {
		return nil, nil, err
	}
	keys, err := f.ask(ctx, list, aid)
	return keys.Keyset, keys.KEL, err
}

func (f *Finder) ask(ctx context.Context, list []peers.Peer, aid string) (keys wire.FedKeys, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	keys, err = ask(ctx, list, f.Circuits, func(ctx context.Context, p peers.Peer) (wire.FedKeys, error) {
		k, err := f.Carrier.Keys(ctx, p, aid)
		if err != nil {
			return k, err
		}
		if _, err := enckeys.Verify(k.Keyset, aid, k.KEL, identity.Replay, f.Now()); err != nil {
			return k, No("the peer %s answered with keys that are not the agent's", p.Name)
		}
		return k, nil
	})
	if errs.KindOf(err) == errs.NotFound {
		return keys, directory.KeysUnknown()
	}
	return keys, err
}
