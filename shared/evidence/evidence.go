// Package evidence is what remains of a piece of work: the provider's receipt,
// the requester's review, and the append-only chains hubs keep (wire 2,
// sections B.2 to B.4).
//
// The one rule: parsing proves nothing. A receipt counts after Verify, a
// review after Interlock with its receipt, a chain after VerifyChain.
package evidence

import (
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Receipt is the provider's word on what it did for whom.
type Receipt struct {
	Interaction string `cbor:"1,keyasint"`
	Requester   string `cbor:"2,keyasint"`
	Provider    string `cbor:"3,keyasint"`
	RequestCID  string `cbor:"4,keyasint"`
	ResultCID   string `cbor:"5,keyasint"`
	CompletedAt uint64 `cbor:"6,keyasint"` // ms
}

// SignedReceipt is a receipt as it travels.
type SignedReceipt struct {
	Receipt
	identity.Signed
}

// SignReceipt signs as the provider.
func SignReceipt(c *identity.Controller, r Receipt) (wire []byte, id string, err error) {
	return identity.SignObject(c, r)
}

// ParseReceipt reads a receipt; it is not verified yet.
func ParseReceipt(wire []byte) (r SignedReceipt, err error) {
	r.Signed, err = identity.ParseSignedAs(wire, &r.Receipt)
	return r, err
}

// Verify checks that the provider signed the receipt when it completed.
func (r SignedReceipt) Verify(provider *identity.History) error {
	if r.Env.Signer != r.Provider {
		return refuse("receipt_wrong_signer", "the receipt is not signed by its provider")
	}
	if err := r.Signed.Verify(provider, r.CompletedAt); err != nil {
		return refuse("receipt_bad_signature", "the receipt's signature does not verify").Because(err)
	}
	return nil
}

// MaxRating is the best a review can say; the worst is 1.
const MaxRating = 5

// MaxComment is how many characters a comment may have (wire 2, I.7).
const MaxComment = 280

// Review is the requester's word on a receipt.
type Review struct {
	Interaction string `cbor:"1,keyasint"`
	Subject     string `cbor:"2,keyasint"`
	Reviewer    string `cbor:"3,keyasint"`
	Rating      uint64 `cbor:"4,keyasint"`
	Comment     string `cbor:"5,keyasint,omitempty"`
	ReceiptCID  string `cbor:"6,keyasint"`
	CreatedAt   uint64 `cbor:"7,keyasint"` // ms
}

// SignedReview is a review as it travels.
type SignedReview struct {
	Review
	identity.Signed
}

// SignReview signs as the requester.
func SignReview(c *identity.Controller, r Review) (wire []byte, id string, err error) {
	return identity.SignObject(c, r)
}

// ParseReview reads a review; it is not verified yet.
func ParseReview(wire []byte) (r SignedReview, err error) {
	r.Signed, err = identity.ParseSignedAs(wire, &r.Review)
	return r, err
}

// Interlock checks that review and receipt speak of the same work and that
// each is signed by whom it names, at its own time.
func Interlock(r SignedReceipt, v SignedReview, provider, reviewer *identity.History) error {
	if err := matching(r, v); err != nil {
		return err
	}
	if err := r.Verify(provider); err != nil {
		return err
	}
	if v.Env.Signer != v.Reviewer {
		return refuse("review_wrong_signer", "the review is not signed by its reviewer")
	}
	if err := v.Signed.Verify(reviewer, v.CreatedAt); err != nil {
		return refuse("review_bad_signature", "the review's signature does not verify").Because(err)
	}
	return nil
}

func matching(r SignedReceipt, v SignedReview) error {
	switch {
	case v.Rating < 1 || v.Rating > MaxRating:
		return refuse("rating_out_of_range", "a rating is a whole number from 1 to %d", MaxRating)
	case v.Interaction != r.Interaction:
		return refuse("review_other_interaction", "review and receipt name different interactions")
	case v.Reviewer != r.Requester:
		return refuse("reviewer_not_requester", "only the requester of the receipt may review it")
	case v.Subject != r.Provider:
		return refuse("subject_not_provider", "the review is about another agent than the receipt's provider")
	case v.ReceiptCID != r.ID():
		return refuse("review_other_receipt", "the review names another receipt")
	}
	return nil
}

func refuse(reason, format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, reason, format, args...)
}
