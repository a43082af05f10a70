package forward

import (
	"context"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Replays is the memory of signed requests.
type Replays interface {
	// Remember uses up a proof.
	Remember(ctx context.Context, p replay.Proof) error
}

// Agents are those registered here.
type Agents interface {
	// Keys gives the key set and the key history of an agent registered here,
	// whatever its visibility; NotFound where there is none.
	Keys(ctx context.Context, aid string) (keyset, kel []byte, err error)
}

// KeyDesk tells peers the keys of agents registered here (wire 2, J.3).
type KeyDesk struct {
	Replays Replays
	Agents  Agents
}

// Answer answers a question whose signature was checked, once.
func (d *KeyDesk) Answer(ctx context.Context, p replay.Proof, aid string) (keyset, kel []byte, err error) {
	if err := d.Replays.Remember(ctx, p); err != nil {
		return nil, nil, fullIsBusy(err)
	}
	if !identity.ValidAID(aid) {
		return nil, nil, directory.KeysUnknown()
	}
	return d.Agents.Keys(ctx, aid)
}

// fullIsBusy turns a memory that has no room for another signature of the peer into
// a hub that has its hands full: no rate was exceeded (wire 2, J.3).
func fullIsBusy(err error) error {
	if errs.KindOf(err) == errs.TooMany {
		return busy()
	}
	return err
}

// AuthRequired is the answer to a question that is not signed.
func AuthRequired(why string) error {
	return errs.New(errs.Unauthorized, "auth_required", "a hub signs what it asks another: %s", why)
}
