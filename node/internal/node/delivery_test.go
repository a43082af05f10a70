package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
)

func TestUndeliverable(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob"), w.node("alice")
		nobody := bob.aid()[:len(bob.aid())-4] + "aaaa"
		got := w.call(alice, Order{Provider: nobody, Capability: "text.digest"})
		wantOutcome(t, "a call to nobody", got, "failed UNAVAILABLE undeliverable unknown")
		got = w.call(alice, Order{Provider: nobody, Text: "hello"})
		wantOutcome(t, "a text to nobody", got, "failed - undeliverable unknown")
	})
}

func TestMailboxFullIsTriedAgain(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		digest := &counter{cap: "text.digest"}
		bob := w.node("bob", serving(digest), public(config.DefaultPublic("text.digest")))
		alice := w.node("alice")
		w.hub.Quota(0)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "text.digest"})
		w.must(err)
		synctest.Wait()
		waiting := w.wait(alice, asked.ID, time.Second)
		if waiting.Delivery != "queued" || waiting.LastError == "" {
			t.Errorf("while the mailbox is full: delivery %q, error %q; want it queued with the reason", waiting.Delivery, waiting.LastError)
		}
		w.hub.Quota(100)
		wantOutcome(t, "the call", w.wait(alice, asked.ID, time.Minute), "completed OK  verified")
	})
}

// D14: the answer to a send is lost and the same bytes go again.
func TestLostAnswersToSends(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		digest := &counter{cap: "text.digest"}
		bob := w.node("bob", serving(digest), public(config.DefaultPublic("text.digest")))
		alice := w.node("alice")
		w.hub.LoseAnswers(true)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "text.digest"})
		w.must(err)
		time.Sleep(3 * time.Minute)
		w.hub.LoseAnswers(false)
		wantOutcome(t, "the call", w.wait(alice, asked.ID, time.Hour), "completed OK  verified")
		time.Sleep(time.Hour)
		if digest.count() != 1 {
			t.Errorf("%d effects, want 1", digest.count())
		}
	})
}

// D16: a request that expired in a mailbox nobody empties is told of by the
// sender's own node.
func TestExpiredInTheMailbox(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob")
		alice := w.node("alice", func(p *Parts) { p.NoResponseAfter = 0 })
		w.end(bob)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "x"})
		w.must(err)
		time.Sleep(13 * 24 * time.Hour)
		if s := w.wait(alice, asked.ID, 0).State; s != "submitted" {
			t.Errorf("after 13 days the task is %s, want submitted", s)
		}
		time.Sleep(2 * 24 * time.Hour)
		wantOutcome(t, "the call", w.wait(alice, asked.ID, 0), "failed UNVERIFIED undeliverable unknown")
	})
}
