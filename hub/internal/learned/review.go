package learned

import (
	"encoding/json"

	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Review is a review that a peer took in, not believed yet.
type Review struct {
	reviews.Review
	FedSeq int64
	told   wire.FedReview
	err    error
}

// reviews reads the entries of a page of the stream of reviews.
func (p page) reviews() (out []Review) {
	for _, raw := range p.Reviews {
		var r Review
		if err := json.Unmarshal(raw, &r.told); err != nil {
			r.err = malformed("the entry is none", err)
		} else {
			r.Review, r.err = reviews.Parse(r.told.Receipt, r.told.Review)
		}
		r.FedSeq = r.told.FedSeq
		out = append(out, r)
	}
	return out
}

// parties are all whose histories have to be known to believe the reviews.
func parties(list []Review) (aids []string) {
	for _, r := range list {
		if r.err == nil {
			aids = append(aids, r.Word.Subject, r.Word.Reviewer)
		}
	}
	return aids
}

// review verifies both objects under the longer of the histories that come along
// and that are known: a short one would bring keys back that were given up.
func (x Vetter) review(r Review, kels map[string][]byte) error {
	if r.err != nil {
		return r.err
	}
	provider, err := x.party(r.told.ProviderKEL, kels[r.Word.Subject])
	if err != nil {
		return err
	}
	reviewer, err := x.party(r.told.ReviewerKEL, kels[r.Word.Reviewer])
	if err != nil {
		return err
	}
	return reviews.Verify(r.Review, provider, reviewer, x.Replay)
}

func (x Vetter) party(told, known []byte) ([]byte, error) {
	if len(told) > identity.MaxKELBytes {
		return nil, malformed("a key history is too large", nil)
	}
	kel, err := longer(told, known)
	if err == nil && len(kel) == 0 {
		err = errs.New(errs.Invalid, "kel_missing", "a key history is missing")
	}
	return kel, err
}
