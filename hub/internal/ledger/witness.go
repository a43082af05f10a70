package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/wire"
)

// Witnessing keeps what this hub saw of others' chains.
type Witnessing interface {
	// LookAgain gives the hubs whose chains are to be looked at now, and moves that
	// on to next, so that of many processes one looks.
	LookAgain(ctx context.Context, hubs []string, now, next time.Time) ([]string, error)
	// LastSeen is what was seen of a chain last, zero for nothing.
	LastSeen(ctx context.Context, hub string) (seq uint64, id string, err error)
	// Saw keeps what was seen and signed.
	Saw(ctx context.Context, hub string, a Attested) error
}

const (
	lookEvery = time.Hour
	lookAfter = time.Minute // how often a process asks what is due
)

// RunWitness looks at the chains of peers every hour (wire 2, J.5), until ctx ends.
func (l *Ledger) RunWitness(ctx context.Context) error {
	return upkeep.Every(ctx, lookAfter, l.Log, "the chains of peers were not witnessed, trying again", l.WitnessPeers)
}

// WitnessPeers looks at those that are due.
func (l *Ledger) WitnessPeers(ctx context.Context) error {
	hubs := l.Peers.All()
	if len(hubs) == 0 {
		return nil
	}
	due, err := l.Store.LookAgain(ctx, hubs, l.now(), l.now().Add(lookEvery))
	for _, hub := range due {
		if err := l.look(ctx, hub); err != nil && ctx.Err() == nil {
			l.metrics.witness("failed")
			l.Log.Warn("the chain of a peer was not witnessed", "hub", hub, "error", err)
		}
	}
	return err
}

// look signs and keeps what it sees before it offers it: an attestation is for
// whoever asks this hub, too.
func (l *Ledger) look(ctx context.Context, hub string) error {
	key, err := l.hub()
	if err != nil {
		return err
	}
	head, err := l.Peers.Head(ctx, hub)
	if err != nil {
		return err
	}
	if goesOn, err := l.goesOn(ctx, hub, head); err != nil || !goesOn {
		return err
	}
	at := l.now()
	signed, _, err := evidence.Attest(key, evidence.Attestation{Chain: hub, Seq: head.Seq, HeadID: head.HeadID, ObservedAt: millis(at)})
	if err != nil {
		return err
	}
	if err := l.Store.Saw(ctx, hub, Attested{Witness: key.AID(), Seq: head.Seq, HeadID: head.HeadID, ObservedAt: at, Signed: signed}); err != nil {
		return err
	}
	l.metrics.witness("attested")
	return l.Peers.Witness(ctx, hub, signed)
}

// goesOn refuses to attest a chain that is another one, or went back: to tell that
// is what a witness is for. A chain that has not begun is passed over.
func (l *Ledger) goesOn(ctx context.Context, hub string, head wire.ChainHead) (bool, error) {
	seq, id, err := l.Store.LastSeen(ctx, hub)
	switch {
	case err != nil:
		return false, err
	case head.Seq == 0 && seq == 0:
		return false, nil
	case head.Seq > 0 && head.ChainDID != hub || head.Seq > math.MaxInt64 || len(head.HeadID) > maxStatement:
		return false, errors.New("it showed a head of another chain")
	case head.Seq < seq || head.Seq == seq && head.HeadID != id:
		l.metrics.witness("went_back")
		return false, fmt.Errorf("its chain went back: record %d was %s, and now it ends at %d with %s", seq, id, head.Seq, head.HeadID)
	}
	return true, nil
}

// witnessSkew is how far the clock of a witness may run ahead: a word from the future
// would make the chain look witnessed until then.
const witnessSkew = time.Hour

// maxAttestation is several times what one has, so that a page of them stays a page.
const maxAttestation = LinkBytes / 2

// Witness keeps what a peer saw at the end of this hub's chain (wire 2, K.8). A
// word about another chain, or another end than ours, is none of ours.
func (l *Ledger) Witness(ctx context.Context, signed []byte) error {
	hub, err := l.hub()
	if err != nil {
		return err
	}
	a, err := evidence.ParseAttestation(signed)
	if err != nil || len(signed) > maxAttestation {
		return errs.New(errs.Invalid, "attestation_malformed", "attestation is no signed attestation").In("attestation").Because(err)
	}
	peer, ok := l.Peers.History(a.Env.Signer)
	if !ok {
		return errs.New(errs.Forbidden, "witness_unknown", "only a peer of this hub witnesses its chain").In("attestation")
	}
	if err := a.Verify(hub.AID(), peer); err != nil {
		return err
	}
	if a.ObservedAt > millis(l.Now().Add(witnessSkew)) {
		return errs.New(errs.Invalid, "attestation_time", "the attestation is of a time that has not come").In("attestation")
	}
	id := ""
	if a.Seq <= math.MaxInt64 {
		if id, err = l.Store.LinkID(ctx, a.Seq); err != nil {
			return err
		}
	}
	if id != a.HeadID {
		return errs.New(errs.Conflict, "attestation_other_head", "this chain has another record there").In("attestation")
	}
	return l.Store.Attest(ctx, Attested{Witness: a.Env.Signer, Seq: a.Seq, HeadID: a.HeadID,
		ObservedAt: time.UnixMilli(int64(a.ObservedAt)).UTC(), Signed: signed})
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
	if w.Witnesses, err = l.seen.get(ctx, l.Now, l.Store.Witnesses); err != nil {
		return w, err
	}
	w.Page, err = l.Store.Attestations(ctx, ChainPage)
	return w, err
}
