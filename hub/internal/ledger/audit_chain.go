package ledger

import (
	"context"
	"errors"

	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

// chain verifies every link against the one before, and what all come to.
func (a auditor) chain(ctx context.Context, r *Report) error {
	head, sum, found := evidence.Head{Chain: a.hub.AID()}, Circulation{}, 0
	err := a.books.EachLink(ctx, func(k Link) error {
		var broken error
		if head, broken = a.link(head, k); broken != nil && found < maxFindings {
			found++
			r.find("link %d of the chain does not hold: %v", k.Seq, broken)
		}
		r.Links++
		a.tell("links", int64(r.Links))
		sum, broken = sum.Add([]Issue{k.Issue})
		return broken
	})
	if err != nil {
		return err
	}
	if sum != r.Circulation {
		r.find("the chain comes to %d issued and %d retired, and the ledger counts %d and %d", sum.Issued, sum.Retired, r.Issued, r.Retired)
	}
	if head.Seq != r.HeadSeq || head.ID != r.HeadID {
		r.find("the chain ends at %d %s, and the ledger says %d %s", head.Seq, head.ID, r.HeadSeq, r.HeadID)
	}
	return nil
}

// link goes on behind a broken link as if it had held, so that one is one finding.
func (a auditor) link(head evidence.Head, k Link) (evidence.Head, error) {
	next := evidence.Head{Chain: a.hub.AID(), Seq: k.Seq, ID: k.ID}
	rec, err := evidence.ParseRecord(k.Record)
	if err != nil {
		return next, err
	}
	if _, err := evidence.VerifyChain(head, []evidence.Record{rec}, a.history); err != nil {
		return next, err
	}
	said, err := issueOf(rec)
	switch {
	case err != nil:
		return next, err
	case rec.Chain != a.hub.AID(), rec.Signer != a.hub.AID():
		return next, errors.New("it is of another hub's chain")
	case rec.ID != k.ID, rec.Seq != k.Seq, !said.same(k.Issue):
		return next, errors.New("it is filed as another one")
	}
	return next, nil
}

func (a auditor) history(aid string) (*identity.History, error) {
	if aid != a.hub.AID() {
		return nil, errors.New("signed by another agent than this hub")
	}
	return a.hub, nil
}
