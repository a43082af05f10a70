package card

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

// Form is which payload a signature was made over.
type Form string

// The two forms of section H.3.
const (
	Stripped Form = "proto-stripped"
	Raw      Form = "raw"
)

// Verified is a statement whose signer is proven.
type Verified struct {
	*Statement
	KeySeq uint64 // the key state that signed
	Form   Form
}

// Verifier checks cards. KEL and Now are required.
type Verifier struct {
	// KEL finds the key history of an AID. It is asked at most once a card; a
	// failure means that nothing is known yet, not that the card is bad.
	KEL func(ctx context.Context, aid string) ([]byte, error)
	// Replay replays a history; identity.Replay when nil. A hub passes its cache.
	Replay func(kel []byte) (*identity.History, error)
	Now    func() time.Time
}

// Verify checks a card in the order of section H.4. Every failure is an *Error.
func (v Verifier) Verify(ctx context.Context, raw []byte) (*Verified, error) {
	s, err := Read(raw)
	if err != nil {
		return nil, err
	}
	if s.NotBefore-MaxSkew > v.Now().UnixMilli() {
		return nil, Refuse(CardNotYetValid, "the card is not valid before %d", s.NotBefore)
	}
	return v.authenticate(ctx, s)
}

// VerifySignatures checks nothing but that aid signed: for cards that are no
// network cards, such as the one a local daemon shows for a distant agent.
func (v Verifier) VerifySignatures(ctx context.Context, raw []byte, aid string) (*Verified, error) {
	s, _, err := open(raw)
	if err != nil {
		return nil, err
	}
	s.AID = aid
	return v.authenticate(ctx, s)
}

// authenticate looks for one good signature. Of several bad ones the first
// speaks, but an unknown key history is no verdict and wins.
func (v Verifier) authenticate(ctx context.Context, s *Statement) (*Verified, error) {
	history := sync.OnceValues(func() (*identity.History, error) { return v.history(ctx, s.AID) })
	var first error
	for _, entry := range s.signatures {
		verified, err := s.verifiedBy(entry, history)
		switch {
		case err == nil || CodeOf(err) == KELUnavailable:
			return verified, err
		case first == nil:
			first = err
		}
	}
	return nil, first
}

func (v Verifier) history(ctx context.Context, aid string) (*identity.History, error) {
	kel, err := v.KEL(ctx, aid)
	if err != nil || len(kel) == 0 {
		return nil, Refuse(KELUnavailable, "the key history of %s is not known yet", aid).Because(err)
	}
	replay := v.Replay
	if replay == nil {
		replay = identity.Replay
	}
	h, err := replay(kel)
	if err != nil || h.AID() != aid {
		return nil, Refuse(UnknownAID, "the key history is not one of %s", aid).Because(err)
	}
	return h, nil
}

func (s *Statement) verifiedBy(entry any, history func() (*identity.History, error)) (*Verified, error) {
	sig, err := newSignature(entry)
	if err != nil {
		return nil, err
	}
	kid, err := sig.key()
	if err != nil {
		return nil, err
	}
	if kid.AID != s.AID {
		return nil, Refuse(BindingMismatch, "kid names another AID than the card")
	}
	h, err := history()
	if err != nil {
		return nil, err
	}
	return s.verifiedUnder(h, kid.Seq, sig)
}

// verifiedUnder demands a current key: a card speaks of the present, so there is
// no grace for one signed before a rotation.
func (s *Statement) verifiedUnder(h *identity.History, seq uint64, sig signature) (*Verified, error) {
	from, alive := h.CurrentFrom()
	state, known := h.State(seq)
	if !alive || !known || seq < from {
		return nil, Refuse(KeyNotCurrent, "key state %d is not current", seq)
	}
	if sig.verifies(s.Payload, state.Key) {
		return &Verified{s, seq, Stripped}, nil
	}
	raw, err := canonical(s.tree)
	if err == nil && !bytes.Equal(raw, s.Payload) && sig.verifies(raw, state.Key) {
		return &Verified{s, seq, Raw}, nil
	}
	return nil, Refuse(InvalidSignature, "the signature does not verify under key state %d", seq)
}
