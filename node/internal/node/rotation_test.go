package node

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/shared/errs"
)

var errGone = errs.New(errs.Unavailable, "hub_unreachable", "gone")

// often is a public capability that one caller may call several times at once.
func often(id string) config.PublicCapability {
	p := config.DefaultPublic(id)
	p.PerCallerInflight = p.MaxInflight
	return p
}

func rotate(w *world, r *running) { w.must(r.Keys.(*keyring.Keyring).Rotate(time.Now())) }

// What was sealed before a rotation and can be sent only after the old key's
// grace is signed anew, so that it does not die with that key (E.7).
func TestWhatWaitsOutlivesARotation(t *testing.T) {
	order := func(bob *running) Order { return Order{Provider: bob.aid(), Capability: "job"} }
	t.Run("a request", func(t *testing.T) {
		story(t, func(t *testing.T, w *world) {
			job := &counter{cap: "job"}
			bob := w.node("bob", serving(job), public(often("job")))
			alice := w.node("alice")
			w.call(alice, order(bob)) // bob's key is known from now on
			w.hub.Down(errGone)
			asked, err := alice.StartTask(t.Context(), order(bob))
			w.must(err)
			time.Sleep(time.Second)
			rotate(w, alice)
			time.Sleep(3 * time.Hour)
			w.hub.Down(nil)
			wantOutcome(t, "a call that tells of the new key", w.call(alice, order(bob)), "completed OK  verified")
			wantOutcome(t, "the call", w.wait(alice, asked.ID, 24*time.Hour), "completed OK  verified")
			if job.count() != 3 {
				t.Errorf("%d effects, want one for each call", job.count())
			}
		})
	})
	t.Run("a result", func(t *testing.T) {
		story(t, func(t *testing.T, w *world) {
			job := &counter{cap: "job", after: func() { w.hub.Down(errGone) }}
			bob := w.node("bob", serving(job), public(often("job")))
			alice := w.node("alice", func(p *Parts) { p.NoResponseAfter = 0 })
			asked, err := alice.StartTask(t.Context(), order(bob))
			w.must(err)
			time.Sleep(time.Minute)
			rotate(w, bob)
			time.Sleep(3 * time.Hour)
			job.after = nil
			w.hub.Down(nil)
			wantOutcome(t, "a call that tells of the new key", w.call(alice, order(bob)), "completed OK  verified")
			got := w.wait(alice, asked.ID, 24*time.Hour)
			wantOutcome(t, "the call", got, "completed OK  verified")
			if theirs := w.task(bob, asked.ID); !bytes.Equal(theirs.Receipt, got.Receipt) {
				t.Error("the receipt is another one than the provider signed before its rotation")
			}
		})
	})
	t.Run("words in a task, over a restart", func(t *testing.T) {
		story(t, func(t *testing.T, w *world) {
			bob, alice := w.node("bob", open), w.node("alice")
			asked := w.ask(alice, bob, "hello")
			synctest.Wait()
			w.hub.Down(errGone)
			_, err := alice.Message(t.Context(), asked.ID, "and this", nil)
			w.must(err)
			time.Sleep(time.Second)
			rotate(w, alice)
			dir := alice.dir
			w.end(alice)
			time.Sleep(2 * time.Hour)
			w.hub.Down(nil)
			alice = w.start(dir)
			w.ask(alice, bob, "by the new key")
			time.Sleep(24 * time.Hour)
			thread, err := bob.Thread(t.Context(), asked.ID)
			w.must(err)
			if len(thread.Messages) == 0 || thread.Messages[0].Text != "and this" {
				t.Errorf("bob has %+v, want the words", thread.Messages)
			}
		})
	})
}

// A message that may have arrived before the rotation arrives again in other
// bytes and under its own id: it has its effect once.
func TestARotationDoublesNothing(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob := w.node("bob", serving(job), public(often("job")))
		alice := w.node("alice")
		w.hub.LoseAnswers(true)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job"})
		w.must(err)
		time.Sleep(time.Second)
		rotate(w, alice)
		w.ask(alice, bob, "by the new key")
		time.Sleep(2 * time.Hour)
		w.hub.LoseAnswers(false)
		time.Sleep(24 * time.Hour)
		wantOutcome(t, "the call", w.task(alice, asked.ID), "completed OK  verified")
		n := bob.Dropped.All()
		if job.count() != 1 || n["duplicate"] == 0 || n["rotation-grace-expired"] != 0 {
			t.Errorf("%d effects, dropped %v, want one effect and the rest taken for copies", job.count(), n)
		}
	})
}
