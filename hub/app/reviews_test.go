package app

import (
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/wire"
)

// review says all there is to say of a provider.
func review(v *visitor) {
	provider, requester, stranger := v.joined("bob"), v.joined("alice"), v.agent()
	done := func(change func(*reviewtest.Work)) wire.SubmitReview {
		return v.submission(provider, requester, change)
	}
	first := done(nil)
	v.post("200", "/reviews", first)
	v.post("400 interaction_reviewed", "/reviews", first)
	v.post("200", "/reviews", done(func(w *reviewtest.Work) { w.Word.Comment = "fast" }))
	v.get("200", "/agents/"+provider.AID()+"?limit=1")
	v.get("200", "/graph?limit=1")
	for _, c := range []struct {
		want string
		body any
	}{
		{"400 malformed_json", "null"},
		{"400 receipt_missing", wire.SubmitReview{Review: first.Review}},
		{"400 review_missing", wire.SubmitReview{Receipt: first.Receipt}},
		{"400 review_content", wire.SubmitReview{Receipt: first.Receipt, Review: first.Review, Deliverable: wire.RawJSON(`""`)}},
		{"400 receipt_malformed", wire.SubmitReview{Receipt: []byte("x"), Review: first.Review}},
		{"400 review_malformed", wire.SubmitReview{Receipt: first.Receipt, Review: []byte("x")}},
		{"400 comment_too_long", done(func(w *reviewtest.Work) { w.Word.Comment = strings.Repeat("x", 281) })},
		{"400 rating_out_of_range", done(func(w *reviewtest.Work) { w.Word.Rating = 6 })},
		{"400 review_of_self", v.submission(provider, provider, nil)},
		{"400 reviewer_unknown", v.submission(provider, stranger, nil)},
		{"400 provider_unknown", v.submission(stranger, requester, nil)},
		{"400 receipt_bad_signature", done(func(w *reviewtest.Work) { w.By(stranger.Key, requester.Key) })},
		{"400 review_bad_signature", done(func(w *reviewtest.Work) { w.By(provider.Key, stranger.Key) })},
		{"400 review_other_interaction", done(func(w *reviewtest.Work) { w.Word.Interaction = "ix_other" })},
		{"400 reviewer_not_requester", done(func(w *reviewtest.Work) { w.Requester = stranger.AID() })},
		{"400 subject_not_provider", done(func(w *reviewtest.Work) { w.Provider = stranger.AID() })},
		{"400 review_other_receipt", done(func(w *reviewtest.Work) { w.Word.ReceiptCID = "bafy" })},
		{"400 receipt_wrong_signer", inTheName(v, stranger, done(nil), func(s *wire.SubmitReview) *[]byte { return &s.Receipt })},
		{"400 review_wrong_signer", inTheName(v, stranger, done(nil), func(s *wire.SubmitReview) *[]byte { return &s.Review })},
		{"413 body_too_large", strings.Repeat(" ", 70<<10)},
	} {
		v.post(c.want, "/reviews", c.body)
	}
}

func (v *visitor) submission(provider, requester *directorytest.Node, change func(*reviewtest.Work)) (s wire.SubmitReview) {
	v.t.Helper()
	w := reviewtest.Done(provider.Key, requester.Key, 4, time.Now())
	if change != nil {
		change(w)
	}
	s.Receipt, s.Review = w.Sign(v.t)
	return s
}

// inTheName names another signer of one of the objects than who signed it.
func inTheName(v *visitor, n *directorytest.Node, s wire.SubmitReview, which func(*wire.SubmitReview) *[]byte) wire.SubmitReview {
	v.t.Helper()
	object := which(&s)
	*object = reviewtest.InTheNameOf(v.t, n.AID(), *object)
	return s
}
