package reviews

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// contentUnverified says that the hub never had the content.
const contentUnverified = "UNVERIFIED"

// maxCID bounds what a receipt names by content id, which the hub only shows.
const maxCID = 128

// Review is a review with the receipt it is about.
type Review struct {
	Receipt evidence.SignedReceipt
	Word    evidence.SignedReview
}

// Parse reads both objects and holds them to what can be kept. Nothing in them
// is verified yet.
func Parse(receipt, word []byte) (r Review, err error) {
	if r.Receipt, err = evidence.ParseReceipt(receipt); err != nil {
		return r, errs.New(errs.Invalid, "receipt_malformed", "receipt is no signed receipt").In("receipt").Because(err)
	}
	if r.Word, err = evidence.ParseReview(word); err != nil {
		return r, errs.New(errs.Invalid, "review_malformed", "review is no signed review").In("review").Because(err)
	}
	if err := r.check(); err != nil {
		return r, err
	}
	r.Receipt.Env.Ref, r.Word.Env.Ref = "", "" // unused, unsigned, and of any length
	return r, nil
}

func (r Review) check() error {
	switch w := r.Word; {
	case utf8.RuneCountInString(w.Comment) > evidence.MaxComment:
		return errs.New(errs.Invalid, "comment_too_long", "a comment has at most %d characters", evidence.MaxComment).In("review")
	case !task.ValidID(w.Interaction), strings.ContainsRune(w.Interaction, 0), !identity.ValidAID(w.Subject), !identity.ValidAID(w.Reviewer):
		return errs.New(errs.Invalid, "review_malformed", "the review names no interaction between two agents").In("review")
	case w.Subject == w.Reviewer:
		return errs.New(errs.Invalid, "review_of_self", "an agent cannot review itself").In("review")
	case len(r.Receipt.RequestCID) > maxCID, len(r.Receipt.ResultCID) > maxCID:
		return errs.New(errs.Invalid, "receipt_malformed", "the receipt names its request or result by no content id").In("receipt")
	}
	return nil
}

// Encode writes the two signed objects in their canonical form, which is what a
// peer verifies.
func (r Review) Encode() (receipt, word []byte, err error) {
	if receipt, err = codec.Marshal(r.Receipt.Signed); err != nil {
		return nil, nil, fmt.Errorf("encode a receipt: %w", err)
	}
	if word, err = codec.Marshal(r.Word.Signed); err != nil {
		return nil, nil, fmt.Errorf("encode a review: %w", err)
	}
	return receipt, word, nil
}

// View is the review as it is shown.
func (r Review) View() wire.Review {
	return wire.Review{
		InteractionID: r.Word.Interaction, SubjectAID: r.Word.Subject, ReviewerAID: r.Word.Reviewer,
		Rating: int(r.Word.Rating), Comment: r.Word.Comment, ReceiptCID: r.Word.ReceiptCID,
		RequestCID: r.Receipt.RequestCID, ResultCID: r.Receipt.ResultCID,
		CompletedAt: r.Receipt.CompletedAt, CreatedAt: r.Word.CreatedAt, ContentBinding: contentUnverified,
	}
}
