package reviews

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

// Reviews is what this hub holds of them.
type Reviews struct {
	store  Store
	agents Agents
	replay func(kel []byte) (*identity.History, error)
	now    func() time.Time
	sums   sums
}

// New makes the rules over their store. replay replays key histories, usually
// from a cache.
func New(store Store, agents Agents, replay func([]byte) (*identity.History, error), now func() time.Time) *Reviews {
	return &Reviews{store: store, agents: agents, replay: replay, now: now}
}

// Agents are the two parties, by what is known of them. Each method gives a key
// history, or fails with NotFound.
type Agents interface {
	// SignerKEL is for agents registered here. Only they review, and who is
	// blocked does not (Forbidden).
	SignerKEL(ctx context.Context, v moderation.Visitor) ([]byte, error)

	// KnownKEL is for everybody who can be reviewed: who is registered here, who
	// was once (what it did is not undone), and who a peer told of.
	KnownKEL(ctx context.Context, aid string) ([]byte, error)
}

// Accept takes a review in, in the order of wire 2, I.7: what costs nothing
// first, and a history is replayed only for signatures that may be by it (A.7).
func (r *Reviews) Accept(ctx context.Context, receipt, word []byte) (Review, error) {
	v, err := Parse(receipt, word)
	if err != nil {
		return v, err
	}
	known, err := r.store.Reviewed(ctx, v)
	if err != nil {
		return v, err
	}
	if known {
		return v, errs.New(errs.Invalid, "interaction_reviewed", "this interaction was reviewed before: a review cannot be changed").In("review")
	}
	if err := r.verify(ctx, v); err != nil {
		return v, err
	}
	return v, r.store.Put(ctx, v, r.now())
}

// verify holds both objects to the key histories of the two parties.
func (r *Reviews) verify(ctx context.Context, v Review) error {
	reviewer, provider, err := r.parties(ctx, v)
	if err != nil {
		return err
	}
	return Verify(v, provider, reviewer, r.replay)
}

// Verify holds both objects to the key histories of who was reviewed and of who
// did.
func Verify(v Review, provider, reviewer []byte, replay func([]byte) (*identity.History, error)) error {
	switch {
	case !plausible(provider, v.Receipt.Signed):
		return errs.New(errs.Invalid, "receipt_bad_signature", "the receipt's signature does not verify").In("receipt")
	case !plausible(reviewer, v.Word.Signed):
		return errs.New(errs.Invalid, "review_bad_signature", "the review's signature does not verify").In("review")
	}
	of, err := replay(provider)
	if err != nil {
		return err
	}
	by, err := replay(reviewer)
	if err != nil {
		return err
	}
	return evidence.Interlock(v.Receipt, v.Word, of, by)
}

// parties finds the key histories of who reviews and of who is reviewed.
func (r *Reviews) parties(ctx context.Context, v Review) (reviewer, provider []byte, err error) {
	if reviewer, err = r.agents.SignerKEL(ctx, moderation.Visitor{AID: v.Word.Reviewer, At: r.now()}); err != nil {
		return nil, nil, asUnknown(err, errs.New(errs.Invalid, "reviewer_unknown", "the reviewer is not registered here").In("review"))
	}
	if provider, err = r.agents.KnownKEL(ctx, v.Word.Subject); err != nil {
		return nil, nil, asUnknown(err, errs.New(errs.Invalid, "provider_unknown", "the provider is not known here").In("review"))
	}
	return reviewer, provider, nil
}

func plausible(kel []byte, s identity.Signed) bool {
	return identity.Plausible(kel, s.Env.Seq, s.Preimage(), s.Env.Sig)
}

// asUnknown says who is missing, and leaves every other failure as it is.
func asUnknown(err, unknown error) error {
	if errs.KindOf(err) == errs.NotFound {
		return unknown
	}
	return err
}
