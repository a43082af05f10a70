package node

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// called is a desk, who called it, and the call that has ended.
func (w *world) called() (bob, alice *running, done Task) {
	w.t.Helper()
	bob = w.node("bob", serving(&counter{cap: "text.digest"}), public(config.DefaultPublic("text.digest")))
	alice = w.node("alice")
	done = w.call(alice, Order{Provider: bob.aid(), Capability: "text.digest", Args: json.RawMessage(`{}`)})
	return bob, alice, done
}

// What a hub gets holds without the hub: the receipt and the word interlock.
func TestAReviewIsPublished(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice, done := w.called()
		seen := done.Version
		got, err := alice.Review(t.Context(), done.ID, Opinion{4, "fast"})
		if err != nil || got.Review == nil || !got.Review.Published || got.Review.Opinion != (Opinion{4, "fast"}) || got.Version <= seen {
			t.Fatalf("%+v, %v", got.Review, err)
		}
		all := w.hub.Reviews()
		if len(all) != 1 {
			t.Fatalf("the hub has %d reviews, want one", len(all))
		}
		provider, reviewer := bob.Keys.Signer().History(), alice.Keys.Signer().History()
		if err := evidence.Interlock(all[0].Receipt, all[0].Word, provider, reviewer); err != nil {
			t.Error(err)
		}
		_, err = alice.Review(t.Context(), done.ID, Opinion{5, ""})
		if !errs.Is(err, "already_reviewed") || errs.KindOf(err) != errs.Conflict {
			t.Errorf("once more: %v, want already_reviewed", err)
		}
		thread, err := alice.Thread(t.Context(), done.ID)
		if err != nil || thread.Task.Review == nil {
			t.Errorf("the thread says nothing of it: %+v, %v", thread.Task, err)
		}
	})
}

func TestReviewsThatMakeNoSense(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice, done := w.called()
		refused := w.call(alice, Order{Provider: bob.aid(), Text: "hello"})
		w.allow(bob, alice)
		open := w.ask(alice, bob, "hello")
		for _, c := range []struct {
			why  string
			at   *running
			id   string
			o    Opinion
			want string
		}{
			{"no rating", alice, done.ID, Opinion{}, "rating_out_of_range"},
			{"six", alice, done.ID, Opinion{Rating: 6}, "rating_out_of_range"},
			{"281 characters", alice, done.ID, Opinion{3, strings.Repeat("é", 281)}, "comment_too_long"},
			{"no text", alice, done.ID, Opinion{3, "\xff"}, "bad_utf8"},
			{"a task nobody knows", alice, "ix_no", Opinion{Rating: 3}, "task_unknown"},
			{"its own work", bob, done.ID, Opinion{Rating: 5}, "not_the_requester"},
			{"a task without an end", alice, open.ID, Opinion{Rating: 3}, "task_open"},
			{"a task without a receipt", alice, refused.ID, Opinion{Rating: 1}, "no_receipt"},
		} {
			if _, err := c.at.Review(t.Context(), c.id, c.o); !errs.Is(err, c.want) {
				t.Errorf("%s: %v, want %s", c.why, err, c.want)
			}
		}
		if n := len(w.hub.Reviews()); n != 0 {
			t.Errorf("the hub has %d reviews, want none", n)
		}
	})
}

// Where the answer is lost nobody knows whether the hub took the review. The
// same command sends the same bytes; another opinion would be a second review.
func TestAReviewWhoseAnswerIsLost(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		_, alice, done := w.called()
		w.hub.LoseAnswers(true)
		_, err := alice.Review(t.Context(), done.ID, Opinion{4, ""})
		if !errs.Is(err, "connection_lost") {
			t.Fatalf("%v, want connection_lost", err)
		}
		if r := w.task(alice, done.ID).Review; r == nil || r.Published {
			t.Errorf("shown as %+v, want one that may not be published", r)
		}
		w.hub.LoseAnswers(false)
		w.hub.Down(errs.New(errs.Unavailable, "hub_unreachable", "away"))
		if _, err := alice.Review(t.Context(), done.ID, Opinion{4, ""}); err == nil {
			t.Error("a hub that is away took it")
		}
		w.hub.Down(nil)
		if _, err := alice.Review(t.Context(), done.ID, Opinion{1, ""}); !errs.Is(err, "review_waits") {
			t.Errorf("another opinion: %v, want review_waits", err)
		}
		got, err := alice.Review(t.Context(), done.ID, Opinion{4, ""})
		if err != nil || !got.Review.Published || len(w.hub.Reviews()) != 1 {
			t.Errorf("the same once more: %+v, %v, %d reviews", got.Review, err, len(w.hub.Reviews()))
		}
	})
}

// A review the hub certainly has not is forgotten, and can be another one.
func TestAReviewTheHubDidNotTake(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		_, alice, done := w.called()
		for _, down := range []error{
			errs.New(errs.Unavailable, "hub_unreachable", "away"),
			errs.New(errs.Invalid, "reviewer_unknown", "the reviewer is not registered here"),
			errors.New("broken"),
		} {
			w.hub.Down(down)
			_, err := alice.Review(t.Context(), done.ID, Opinion{2, ""})
			w.hub.Down(nil)
			if err == nil || errs.KindOf(err) == errs.Invalid {
				t.Errorf("%v: %v, want a failure that is no wrong use", down, err)
			}
			if r := w.task(alice, done.ID).Review; r != nil {
				t.Errorf("%v: kept %+v", down, r)
			}
		}
		if _, err := alice.Review(t.Context(), done.ID, Opinion{5, ""}); err != nil {
			t.Error(err)
		}
	})
}

// A node whose journal is older than its review does not take the hub's for its own.
func TestAReviewTheJournalForgot(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		_, alice, done := w.called()
		_, err := alice.Review(t.Context(), done.ID, Opinion{2, ""})
		w.must(err)
		w.must(alice.Journal.Write(t.Context(), func(tx *journal.Tx) error { return tx.DropReview(done.ID) }))
		_, err = alice.Review(t.Context(), done.ID, Opinion{5, ""})
		if !errs.Is(err, "already_reviewed") || w.task(alice, done.ID).Review != nil {
			t.Errorf("%v, %+v, want already_reviewed and nothing kept", err, w.task(alice, done.ID).Review)
		}
	})
}
