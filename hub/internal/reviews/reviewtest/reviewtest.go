// Package reviewtest makes receipts and reviews, for tests of the rules, of
// their store and of their HTTP face.
package reviewtest

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// Work is a piece of work that was done, and what its requester says of it.
type Work struct {
	evidence.Receipt
	Word evidence.Review

	provider, requester *identity.Controller
}

// Done is work that a provider did for a requester, rated by it.
func Done(provider, requester *identity.Controller, rating int, at time.Time) *Work {
	return DoneAs(task.NewID(), provider, requester, rating, at)
}

// DoneAs is Done with an id, so that a transcript can name the same every time.
func DoneAs(id string, provider, requester *identity.Controller, rating int, at time.Time) *Work {
	ms := uint64(at.UnixMilli())
	return &Work{
		Receipt: evidence.Receipt{Interaction: id, Requester: requester.AID(), Provider: provider.AID(),
			RequestCID: codec.CID([]byte("request")), ResultCID: codec.CID([]byte("result")), CompletedAt: ms},
		Word: evidence.Review{Interaction: id, Subject: provider.AID(), Reviewer: requester.AID(),
			Rating: uint64(rating), CreatedAt: ms},
		provider: provider, requester: requester,
	}
}

// With changes something before it is signed.
func (w *Work) With(change func(*Work)) *Work {
	change(w)
	return w
}

// By has other keys sign than those of who is named.
func (w *Work) By(provider, requester *identity.Controller) *Work {
	w.provider, w.requester = provider, requester
	return w
}

// Sign gives both objects. A review that names no receipt names this one.
func (w *Work) Sign(t testing.TB) (receipt, review []byte) {
	t.Helper()
	receipt, id, err := evidence.SignReceipt(w.provider, w.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	if w.Word.ReceiptCID == "" {
		w.Word.ReceiptCID = id
	}
	if review, _, err = evidence.SignReview(w.requester, w.Word); err != nil {
		t.Fatal(err)
	}
	return receipt, review
}

// InTheNameOf has a signed object name another signer than who signed it.
func InTheNameOf(t testing.TB, aid string, object []byte) []byte {
	t.Helper()
	var s identity.Signed
	if err := codec.Unmarshal(object, &s); err != nil {
		t.Fatal(err)
	}
	s.Env.Signer = aid
	out, err := codec.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
