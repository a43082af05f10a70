package node

import (
	"cmp"
	"context"
	"unicode/utf8"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// Reviewer is the hub as far as it takes reviews.
type Reviewer interface {
	// Review publishes a review with the receipt it is about. Of a failure it
	// says whether the hub may have taken them all the same.
	Review(ctx context.Context, receipt, review []byte) (mayBeTaken bool, err error)
}

// Review says what this node thinks of work it asked for. The word is signed and
// on disk before the hub hears it; where nobody knows whether the hub did, the
// same command sends the same bytes again.
func (n *Node) Review(ctx context.Context, id string, o Opinion) (Task, error) {
	if err := o.check(); err != nil {
		return Task{}, err
	}
	w, err := n.word(ctx, id, o)
	if err != nil {
		return Task{}, err
	}
	mayBeTaken, err := n.Relay.Review(ctx, w.receipt, w.Signed)
	if err := n.published(context.WithoutCancel(ctx), w, mayBeTaken, err); err != nil {
		return Task{}, err
	}
	return n.Task(context.WithoutCancel(ctx), id)
}

// published notes what became of a review. One that the hub certainly has not is
// forgotten.
func (n *Node) published(ctx context.Context, w word, mayBeTaken bool, failed error) error {
	switch {
	case failed == nil, w.again && saidBefore(failed):
		w.Accepted = n.Now()
		return n.Journal.Write(ctx, func(tx *journal.Tx) error { return tx.PutReview(w.Review) })
	case mayBeTaken, w.again && errs.KindOf(failed) != errs.Invalid:
		return failed // the hub may have it from now, or from the time before
	}
	err := n.Journal.Write(ctx, func(tx *journal.Tx) error { return tx.DropReview(w.Task) })
	return cmp.Or(err, refused(failed))
}

// check holds an opinion to what a hub takes.
func (o Opinion) check() error {
	switch {
	case o.Rating < 1 || o.Rating > evidence.MaxRating:
		return errs.New(errs.Invalid, "rating_out_of_range", "a rating is a whole number from 1 to %d", evidence.MaxRating).In("rating")
	case !utf8.ValidString(o.Comment):
		return errs.New(errs.Invalid, "bad_utf8", "the comment is no valid UTF-8").In("comment")
	case utf8.RuneCountInString(o.Comment) > evidence.MaxComment:
		return errs.New(errs.Invalid, "comment_too_long", "a comment has at most %d characters", evidence.MaxComment).In("comment")
	}
	return nil
}

// word is a review to publish.
type word struct {
	journal.Review
	receipt []byte
	again   bool // it was sent before
}

// word signs an opinion once, and keeps it.
func (n *Node) word(ctx context.Context, id string, o Opinion) (w word, err error) {
	err = n.Journal.Write(ctx, func(tx *journal.Tx) error {
		proof, err := n.reviewable(tx, id)
		if err != nil {
			return err
		}
		w.receipt = proof.Receipt
		if w.Review, w.again, err = tx.Review(id); err != nil || w.again {
			return cmp.Or(err, w.says(o))
		}
		if w.Review, err = n.signReview(proof, o); err != nil {
			return err
		}
		return tx.PutReview(w.Review)
	})
	return w, err
}

// says refuses another opinion than the one that was signed: the hub may have
// that one, and a review cannot be changed.
func (w word) says(o Opinion) error {
	switch {
	case !w.Accepted.IsZero():
		return errs.New(errs.Conflict, "already_reviewed", "this task was reviewed, with %d: a review cannot be changed", w.Rating)
	case w.Rating != o.Rating || w.Comment != o.Comment:
		return errs.New(errs.Conflict, "review_waits",
			"a review with %d was signed and the hub may have it: give the same rating and comment to send it again", w.Rating)
	}
	return nil
}

// reviewable gives the receipt of a task that this node may review.
func (n *Node) reviewable(tx *journal.Tx, id string) (journal.Evidence, error) {
	k, err := tx.NeedTask(id)
	if err != nil {
		return journal.Evidence{}, err
	}
	switch {
	case k.Role != journal.Requester:
		return journal.Evidence{}, errs.New(errs.Invalid, "not_the_requester", "only who asked for a task reviews it, and this node did the work")
	case k.Peer == n.Keys.AID():
		return journal.Evidence{}, errs.New(errs.Invalid, "review_of_self", "a node cannot review itself")
	case !k.State.Terminal():
		return journal.Evidence{}, errs.New(errs.Conflict, "task_open", "this task has no end yet: review it afterwards")
	}
	proof, found, err := tx.Evidence(id, journal.Requester)
	if err == nil && !found {
		err = errs.New(errs.Conflict, "no_receipt", "there is no verified receipt of this task, so nothing that a review could be about")
	}
	return proof, err
}

func (n *Node) signReview(proof journal.Evidence, o Opinion) (r journal.Review, err error) {
	receipt, err := evidence.ParseReceipt(proof.Receipt)
	if err != nil {
		return r, err
	}
	r = journal.Review{Task: proof.Task, Rating: o.Rating, Comment: o.Comment, Created: n.Now()}
	signer := n.Keys.Signer()
	r.Signed, _, err = evidence.SignReview(signer, evidence.Review{
		Interaction: receipt.Interaction, Subject: receipt.Provider, Reviewer: signer.AID(), Rating: uint64(o.Rating),
		Comment: o.Comment, ReceiptCID: receipt.ID(), CreatedAt: uint64(r.Created.UnixMilli()),
	})
	return r, err
}

// saidBefore reports whether the hub has a review of this task by this node.
func saidBefore(err error) bool {
	return errs.Is(err, "interaction_reviewed") || errs.Is(err, "review_conflict")
}

// refused is why the hub does not take a review: what it calls a wrong request is
// no wrong use of a command.
func refused(err error) error {
	e := errs.As(err)
	switch {
	case saidBefore(err):
		return errs.New(errs.Conflict, "already_reviewed", "the hub has a review of this task by this node: a review cannot be changed")
	case e != nil && e.Kind == errs.Invalid:
		return errs.New(errs.Forbidden, e.Reason, "%s", e.Message)
	}
	return err
}
