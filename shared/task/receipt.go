package task

import (
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// ResultRefused is the reason a result is dropped; its task keeps its state.
const ResultRefused = "result-refused"

// Ordered is what the requester remembers of a task it started.
type Ordered struct {
	Requester  string // the requester's own AID
	Provider   string
	Ix         string
	RequestCID string // of the document it sent
}

// CheckReceipt binds a result to the task it came for: the receipt has to be
// signed by the provider asked, about this request, and over the very bytes
// delivered (section F.5). Nothing of a result is stored or shown before.
func (r ResultResp) CheckReceipt(o Ordered, s Sender) (evidence.SignedReceipt, error) {
	got, err := evidence.ParseReceipt(r.Receipt)
	if err != nil {
		return got, refusedResult("carries no receipt that can be read").Because(err)
	}
	if s.AID != o.Provider || s.Ix != o.Ix {
		return got, refusedResult("is for task %.80q from %.80q", s.Ix, s.AID)
	}
	if err := o.match(got, codec.CID(r.Deliverable)); err != nil {
		return got, err
	}
	if !s.knows(r.KEL) {
		return got, refusedResult("carries another key history than its provider's")
	}
	if err := got.Signed.Verify(s.History, s.TS); err != nil {
		return got, refusedResult("has a receipt whose signature does not hold").Because(err)
	}
	return got, nil
}

// match compares every member of the receipt but its date.
func (o Ordered) match(r evidence.SignedReceipt, resultCID string) error {
	for _, m := range []struct{ member, got, want string }{
		{"signer", r.Env.Signer, o.Provider},
		{"provider", r.Provider, o.Provider},
		{"requester", r.Requester, o.Requester},
		{"task", r.Interaction, o.Ix},
		{"request", r.RequestCID, o.RequestCID},
		{"result", r.ResultCID, resultCID},
	} {
		if m.got != m.want || m.want == "" {
			return refusedResult("has a receipt whose %s is %.80q, not %.80q", m.member, m.got, m.want)
		}
	}
	return nil
}

func refusedResult(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, ResultRefused, "the result "+format, args...)
}
