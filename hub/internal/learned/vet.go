package learned

import (
	"context"
	"errors"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Vetter checks what costs signatures.
type Vetter struct {
	Replay func(kel []byte) (*identity.History, error)
	Now    func() time.Time
}

// Vetted is an entry after its signatures were checked: an agent, or why there is
// none.
type Vetted struct {
	Entry
	Agent  directory.Elsewhere
	Card   *directory.AdmittedCard // of a network card
	ADPSeq int64                   // of an older card
	Under  []byte                  // the history all of it verified under
	Keys   []byte                  // the key set, where it is good
	err    error
}

// Seq is the number of its card.
func (v Vetted) Seq() int64 {
	if v.Card != nil {
		return v.Card.Mark.Seq
	}
	return v.ADPSeq
}

// rowBytes is what a row of an index takes, about, and what an agent takes beside
// what its peer told.
const rowBytes = 256

// Size is what the agent takes in the database, about: a card can hold many ids in
// few bytes, each of which is a row.
func (v Vetted) Size() int {
	return len(v.Entry.Card) + len(v.KEL) + len(v.Entry.Keyset) + rowBytes*(1+len(v.Agent.Card.Skills)+len(v.Tags()))
}

// vet checks an entry of a peer under the longer of the histories that it brings
// and that is known. Whatever needs no signature is decided later.
func (x Vetter) vet(ctx context.Context, from Source, e Entry, known Record) Vetted {
	v := Vetted{Entry: e, err: e.err}
	if v.err != nil || e.Withdrawn || known.Registered {
		return v
	}
	if v.Under, v.err = longer(e.KEL, known.KEL); v.err != nil {
		return v
	}
	if from.Stream == peers.ADPCards {
		v.err = x.older(&v, from)
	} else {
		v.err = x.network(ctx, &v, from)
	}
	if v.err == nil && v.Agent.AID != e.AID {
		v.err = card.Refuse(card.BindingMismatch, "the card is another agent's than the history")
	}
	if v.err == nil {
		v.Keys = x.keys(e, v.Under)
	}
	return v
}

// longer is the history to believe. Both may be missing: then nothing is known yet.
func longer(told, known []byte) ([]byte, error) {
	if len(told) == 0 || len(known) == 0 {
		return append(told[:len(told):len(told)], known...), nil
	}
	rel, err := identity.Compare(told, known)
	switch {
	case err != nil:
		return nil, malformed("the key history is none", err)
	case rel == identity.Forked:
		return nil, errs.New(errs.Invalid, "kel_forked", "the key history contradicts the one on record")
	case rel == identity.Extends:
		return told, nil
	}
	return known, nil
}

// network verifies a network card (wire 2, H.4).
func (x Vetter) network(ctx context.Context, v *Vetted, from Source) error {
	verifier := card.Verifier{Replay: x.Replay, Now: x.Now, KEL: func(_ context.Context, aid string) ([]byte, error) {
		if aid != v.AID {
			return nil, errOther
		}
		return v.Under, nil
	}}
	proven, err := verifier.Verify(ctx, v.Entry.Card)
	if errors.Is(err, errOther) {
		return card.Refuse(card.BindingMismatch, "the card is another agent's than the history")
	}
	if err != nil {
		return err
	}
	v.Card = directory.Admit(proven, v.Entry.Card, x.Now())
	v.Agent = directory.NewElsewhere(proven, v.Card, directory.HomeOf(v.Home, from.Endpoint))
	return nil
}

var errOther = errors.New("another agent")

// older verifies an older card (wire 2, H.6).
func (x Vetter) older(v *Vetted, from Source) error {
	if len(v.Under) == 0 {
		return card.Refuse(card.KELUnavailable, "the key history of %s is not known yet", v.AID)
	}
	h, err := x.Replay(v.Under)
	if err != nil {
		return card.Refuse(card.UnknownAID, "the key history does not replay").Because(err)
	}
	c, err := adp.Admit(v.Entry.Card, h, 0, x.Now())
	if err != nil {
		return err
	}
	v.ADPSeq = int64(c.Seq)
	v.Agent = directory.NewOlderElsewhere(c, directory.HomeOf(v.Home, from.Endpoint))
	return nil
}

// keys gives a key set that verifies. It is advice: a bad one does not cost the
// agent its place in lists.
func (x Vetter) keys(e Entry, kel []byte) []byte {
	if len(e.Keyset) == 0 {
		return nil
	}
	if _, err := enckeys.Verify(e.Keyset, e.AID, kel, x.Replay, x.Now()); err != nil {
		return nil
	}
	return e.Keyset
}

// named is whom a card is about, as it says itself.
func named(stream Stream, raw []byte) (string, error) {
	if stream == peers.ADPCards {
		c, err := adp.Read(raw)
		if err != nil {
			return "", err
		}
		return c.Subject, nil
	}
	s, err := card.Read(raw)
	if err != nil {
		return "", err
	}
	return s.AID, nil
}

// Tags are what a network card's skills are tagged with.
func (v Vetted) Tags() []string {
	if v.Card == nil {
		return nil
	}
	return v.Card.Tags
}
