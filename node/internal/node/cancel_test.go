package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/errs"
)

func TestRequesterAsksForTheEnd(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob", open), w.node("alice")
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "tell me"})
		w.must(err)
		synctest.Wait()
		_, err = bob.Message(t.Context(), asked.ID, "42", nil)
		w.must(err)
		synctest.Wait()
		_, err = alice.End(t.Context(), asked.ID, "thank you", nil)
		w.must(err)
		wantOutcome(t, "the text task", w.wait(alice, asked.ID, time.Minute), "completed -  verified")
	})
}

func TestCancel(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		slow := &counter{cap: "text.slow", limit: time.Minute, block: make(chan struct{})}
		bob, alice := w.node("bob", serving(slow), open), w.node("alice")
		w.allow(bob, alice)

		text, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "never mind"})
		w.must(err)
		synctest.Wait()
		_, err = alice.Cancel(t.Context(), text.ID)
		w.must(err)
		wantOutcome(t, "a text task", w.wait(alice, text.ID, time.Minute), "canceled -  unknown")
		if s := w.inbox(bob)[0].State; s != "canceled" {
			t.Errorf("at the provider the text task is %s, want canceled", s)
		}

		call, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "text.slow"})
		w.must(err)
		synctest.Wait()
		_, err = alice.Cancel(t.Context(), call.ID)
		w.must(err)
		wantOutcome(t, "a call at work", w.wait(alice, call.ID, time.Minute), "canceled UNVERIFIED  unknown")
	})
}

// What was done before the cancellation reached the work is told as it is.
func TestCancelComesTooLate(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		deaf := &counter{cap: "x", deaf: true, block: make(chan struct{})}
		bob, alice := w.node("bob", serving(deaf), public(config.DefaultPublic("x"))), w.node("alice")
		call, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "x"})
		w.must(err)
		time.Sleep(time.Second)
		_, err = alice.Cancel(t.Context(), call.ID)
		w.must(err)
		time.Sleep(time.Second)
		close(deaf.block)
		wantOutcome(t, "the call", w.wait(alice, call.ID, time.Minute), "completed OK  verified")
	})
}

// L.7: a request of which no attempt was made is simply taken back, and one
// that may have arrived is not.
func TestCancelBeforeAndAfterAnAttempt(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		slow := &counter{cap: "text.slow"}
		bob := w.node("bob", serving(slow), public(config.DefaultPublic("text.slow")))
		alice := w.node("alice")
		order := Order{Provider: bob.aid(), Capability: "text.slow"}
		down := errs.New(errs.Unavailable, "down", "connection refused")

		w.hub.Down(down) // and bob's keys are not known: there is nothing to send yet
		fresh, err := alice.StartTask(t.Context(), order)
		w.must(err)
		synctest.Wait()
		got, err := alice.Cancel(t.Context(), fresh.ID)
		w.must(err)
		wantOutcome(t, "a call nobody saw", got, "canceled UNAVAILABLE  unknown")

		w.hub.Down(nil)
		wantOutcome(t, "a call in between", w.call(alice, order), "completed OK  verified")
		w.hub.Down(down)
		tried, err := alice.StartTask(t.Context(), order)
		w.must(err)
		synctest.Wait()
		got, err = alice.Cancel(t.Context(), tried.ID)
		w.must(err)
		if got.Ended || !got.CancelRequested {
			t.Errorf("a call that was tried is %s at once, want the provider asked", got.State)
		}
		w.hub.Down(nil)
		wantOutcome(t, "a call that was tried", w.wait(alice, tried.ID, time.Minute), "completed OK  verified")
	})
}
