package directory

import (
	"context"
	"fmt"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// noteDeparted explains a view without a registration.
const noteDeparted = "this agent has left the hub; its key history is kept"

// noteElsewhere explains a view of an agent of another hub.
const noteElsewhere = "this agent is registered at another hub, home_hub, which told of it; registered_at is when this hub learned of it"

// Notes that explain why an agent is in no list.
const (
	noteBlocked = "this agent is blocked by the hub's operator"
	noteHidden  = "this agent is hidden by the hub's operator: it works, and no list shows it"
)

// Show is one agent in full. One that left is shown as departed.
func (d *Directory) Show(ctx context.Context, aid string) (v wire.Agent, note string, err error) {
	if err := CheckAID(aid); err != nil {
		return v, "", err
	}
	a, life, err := d.store.Agent(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return d.showAbsent(ctx, aid)
	}
	if err != nil {
		return v, "", err
	}
	v = a.View()
	v.Visibility = string(a.Visibility)
	life.Show(&v, d.life.Horizon(d.now()))
	switch {
	case a.Blocked:
		note = noteBlocked
	case a.Hidden:
		note = noteHidden
	}
	return v, note, nil
}

// showAbsent is one that is not registered here: at another hub, or not any more.
func (d *Directory) showAbsent(ctx context.Context, aid string) (wire.Agent, string, error) {
	e, err := d.store.Elsewhere(ctx, aid)
	if errs.KindOf(err) != errs.NotFound {
		return e.View(), noteElsewhere, err
	}
	m, _, err := d.store.Member(ctx, aid)
	return Face{AID: aid, Member: m}.absent(), noteDeparted, err
}

// absent is an agent without a registration, as it is shown.
func (f Face) absent() wire.Agent {
	m := f.Member
	return wire.Agent{AID: f.AID, Caps: []string{}, AvgRating: m.Rating.Mean(), ReviewCount: m.Rating.Count,
		RegisteredAt: m.FirstSeen.UTC(), Departed: !m.FirstSeen.IsZero()}
}

// History is a key history as it is shown. Source is where it was learned (wire
// 2, I.2).
type History struct {
	KEL    []byte
	Source string
	Note   string
}

// Sources of a history.
const (
	sourceLocal     = "local"
	sourceFederated = "federated"
)

// KEL is the key history of an AID that is or was registered here, or that a peer
// told of. Of two the longer counts, which extends the other.
func (d *Directory) KEL(ctx context.Context, aid string) (History, error) {
	if err := CheckAID(aid); err != nil {
		return History{}, err
	}
	m, registered, err := d.store.Member(ctx, aid)
	if registered || err != nil && errs.KindOf(err) != errs.NotFound {
		return History{KEL: m.KEL, Source: sourceLocal}, err
	}
	departed := err == nil
	kel, err := d.store.KnownElsewhere(ctx, aid)
	if departed && (errs.KindOf(err) == errs.NotFound || len(m.KEL) > len(kel)) {
		return History{KEL: m.KEL, Source: sourceLocal, Note: noteDeparted}, nil
	}
	return History{KEL: kel, Source: sourceFederated}, err
}

// Keys gives the encryption keys of an agent with the key history that proves
// them: of one registered here, or the first that peers told of and that verify
// now (wire 2, I.6). The caller verifies both with the AID it wants.
func (d *Directory) Keys(ctx context.Context, aid string) (keyset, kel []byte, err error) {
	if err := CheckAID(aid); err != nil {
		return nil, nil, err
	}
	keyset, kel, err = d.store.Keys(ctx, aid)
	if errs.KindOf(err) != errs.NotFound {
		return keyset, kel, err
	}
	taught, kel, failed := d.store.TaughtKeys(ctx, aid)
	if failed != nil {
		return nil, nil, failed
	}
	for _, keyset := range taught {
		if _, bad := enckeys.Verify(keyset, aid, kel, d.replay, d.now()); bad == nil {
			return keyset, kel, nil
		}
	}
	return nil, nil, err
}

// KeysUnknown is the answer where nobody knows the keys of an agent.
func KeysUnknown() error {
	return errs.New(errs.NotFound, "keys_unknown", "no encryption keys of this AID are known here")
}

// NetworkCard is the admitted network card as it was submitted.
func (d *Directory) NetworkCard(ctx context.Context, aid string) ([]byte, error) {
	if err := CheckAID(aid); err != nil {
		return nil, err
	}
	return d.store.Card(ctx, aid)
}

// ADPCard is the older signed card as it was submitted.
func (d *Directory) ADPCard(ctx context.Context, aid string) ([]byte, error) {
	if err := CheckAID(aid); err != nil {
		return nil, err
	}
	return d.store.ADPCard(ctx, aid)
}

// Address is where an agent can be reached directly.
func (d *Directory) Address(ctx context.Context, aid string) (Address, error) {
	if err := CheckAID(aid); err != nil {
		return Address{}, err
	}
	return d.store.Address(ctx, aid)
}

// JWKS are the current keys of an agent registered here (wire 2, H.5). They are
// the hub's word; the key history is the proof.
func (d *Directory) JWKS(ctx context.Context, aid string) ([]byte, error) {
	if err := CheckAID(aid); err != nil {
		return nil, err
	}
	m, err := d.registered(ctx, aid)
	if err != nil {
		return nil, err
	}
	h, err := d.replay(m.KEL)
	if err != nil {
		return nil, fmt.Errorf("replay the stored history: %w", err)
	}
	return card.JWKS(h)
}

// Registered fails with NotFound unless the AID is registered here.
func (d *Directory) Registered(ctx context.Context, aid string) error {
	if err := CheckAID(aid); err != nil {
		return err
	}
	_, err := d.registered(ctx, aid)
	return err
}

func (d *Directory) registered(ctx context.Context, aid string) (Member, error) {
	m, registered, err := d.store.Member(ctx, aid)
	if err == nil && !registered {
		err = errs.New(errs.NotFound, "agent_unknown", "no agent with this AID is registered here")
	}
	return m, err
}

// Stats are the counters of wire 2, I.8.
type Stats struct {
	Agents    int64
	Federated int64 // of other hubs
}

// Stats reads them.
func (d *Directory) Stats(ctx context.Context) (Stats, error) {
	n, err := d.store.Counts(ctx)
	return Stats{Agents: n["agents"], Federated: n["federated"]}, err
}
