package ledger

import (
	"context"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// Witness keeps what a peer saw at the end of this hub's chain (wire 2, K.8). A
// word about another chain, or another end than ours, is none of ours.
func (l *Ledger) Witness(ctx context.Context, signed []byte) error {
	hub, err := l.hub()
	if err != nil {
		return err
	}
	a, err := evidence.ParseAttestation(signed)
	if err != nil || len(signed) > MaxAuthorization {
		return errs.New(errs.Invalid, "attestation_malformed", "attestation is no signed attestation").In("attestation").Because(err)
	}
	peer, ok := l.Peers.History(a.Env.Signer)
	if !ok {
		return errs.New(errs.Forbidden, "witness_unknown", "only a peer of this hub witnesses its chain").In("attestation")
	}
	if err := a.Verify(hub.AID(), peer); err != nil {
		return err
	}
	id := ""
	if a.Seq <= 1<<62 {
		if id, err = l.Store.LinkID(ctx, a.Seq); err != nil {
			return err
		}
	}
	if id != a.HeadID {
		return errs.New(errs.Conflict, "attestation_other_head", "this chain has another record there").In("attestation")
	}
	return l.Store.Attest(ctx, Attested{Witness: a.Env.Signer, Seq: a.Seq, HeadID: a.HeadID,
		ObservedAt: time.UnixMilli(int64(a.ObservedAt & (1<<50 - 1))).UTC(), Signed: signed})
}

// Witnessed is what others saw of the chain.
type Witnessed struct {
	Page []Attested
	Witnesses
	HeadSeq uint64
}

// Unwitnessed is how many links nobody has seen yet.
func (w Witnessed) Unwitnessed() uint64 { return w.HeadSeq - min(w.HeadSeq, w.LatestSeq) }

// Witnessed reads it.
func (l *Ledger) Witnessed(ctx context.Context) (w Witnessed, err error) {
	if w.HeadSeq, _, err = l.Store.Head(ctx); err != nil {
		return w, err
	}
	if w.Witnesses, err = l.Store.Witnesses(ctx); err != nil {
		return w, err
	}
	w.Page, err = l.Store.Attestations(ctx, ChainPage)
	return w, err
}
