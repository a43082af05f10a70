package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

// chain verifies every link against the one before, and what all come to.
func (a auditor) chain(ctx context.Context, r *Report) error {
	head, sum := evidence.Head{Chain: a.hub.AID()}, Circulation{}
	err := r.checking(func(begin begin) error {
		return a.books.EachLink(ctx, func(k Link) (err error) {
			before := head
			begin(fmt.Sprintf("link %d of the chain", k.Seq), func() error { return a.link(before, k) })
			// Behind a broken link it goes on as if that had held: one is one finding.
			head = evidence.Head{Chain: a.hub.AID(), Seq: k.Seq, ID: k.ID}
			r.Links++
			a.tell("links", int64(r.Links))
			sum, err = sum.Add([]Issue{k.Issue})
			return err
		})
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

func (a auditor) link(head evidence.Head, k Link) error {
	rec, err := evidence.ParseRecord(k.Record)
	if err != nil {
		return err
	}
	if _, err := evidence.VerifyChain(head, []evidence.Record{rec}, a.history); err != nil {
		return err
	}
	said, err := issueOf(rec)
	switch {
	case err != nil:
		return err
	case rec.Chain != a.hub.AID(), rec.Signer != a.hub.AID():
		return errors.New("it is of another hub's chain")
	case rec.ID != k.ID, rec.Seq != k.Seq, !said.same(k.Issue):
		return errors.New("it is filed as another one")
	}
	return nil
}

func (a auditor) history(aid string) (*identity.History, error) {
	if aid != a.hub.AID() {
		return nil, errors.New("signed by another agent than this hub")
	}
	return a.hub, nil
}
