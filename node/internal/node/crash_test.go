package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// D14, checklist 68: a kill between the effect and its record. The effect does
// not happen again, and the requester hears that it may have happened. That the
// answer is there before anything is received shows while the hub is away.
func TestKillBetweenEffectAndRecord(t *testing.T) {
	for _, limit := range []time.Duration{time.Minute, time.Hour} {
		t.Run(limit.String(), func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{cap: "job", limit: limit}
				options := []option{serving(job), public(config.DefaultPublic("job"))}
				bob, alice := w.node("bob", options...), w.node("alice")
				var left string
				job.after = func() {
					left = w.snapshot(bob)
					bob.line.Break("send")
				}
				bob.line.Break("ack")
				asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job"})
				w.must(err)
				synctest.Wait()
				w.end(bob)
				job.after = nil

				w.hub.Down(errs.New(errs.Unavailable, "down", "connection refused"))
				bob = w.start(left, options...)
				synctest.Wait()
				if held := w.inbox(bob); len(held) != 1 || outcome(held[0]) != "completed UNVERIFIED interrupted verified" {
					t.Errorf("before anything was received bob holds %+v, want the call answered as interrupted", held)
				}
				w.hub.Down(nil)
				wantOutcome(t, "the call", w.wait(alice, asked.ID, time.Minute), "completed UNVERIFIED interrupted verified")
				time.Sleep(time.Hour)
				if job.count() != 1 {
					t.Errorf("%d effects, want 1", job.count())
				}
				if n := len(w.hub.Mail(bob.aid())); n != 0 {
					t.Errorf("%d messages stay in bob's mailbox, want 0", n)
				}
			})
		})
	}
}

// D14: a kill after the record and before the acknowledgement, the answer to
// the send lost as well. The requester gets the one result there is.
func TestKillBeforeAck(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		options := []option{serving(job), public(config.DefaultPublic("job"))}
		bob, alice := w.node("bob", options...), w.node("alice")
		bob.line.Break("ack")
		w.hub.LoseAnswers(true)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job"})
		w.must(err)
		time.Sleep(time.Minute)
		w.hub.LoseAnswers(false)
		w.end(bob)
		bob = w.start(bob.dir, options...)
		got := w.wait(alice, asked.ID, time.Hour)
		wantOutcome(t, "the call", got, "completed OK  verified")
		time.Sleep(time.Hour)
		again := w.wait(alice, asked.ID, 0)
		if job.count() != 1 || !bytes.Equal(again.Receipt, got.Receipt) || again.LateResult {
			t.Errorf("%d effects, receipt changed %v; want one of each", job.count(), !bytes.Equal(again.Receipt, got.Receipt))
		}
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d messages stay in bob's mailbox, want 0", n)
		}
	})
}

// D14, checklist 66: the same envelope over two connections, and again later.
func TestSameEnvelopeAgain(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob, mallory := w.node("bob", serving(job), public(config.DefaultPublic("job"))), w.stranger()
		e := mallory.seal(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "job")))
		for range 2 {
			w.hub.Put(bob.aid(), e)
		}
		time.Sleep(time.Second)
		for range 10 {
			w.hub.Put(bob.aid(), e)
			time.Sleep(time.Second)
		}
		results := mallory.results()
		if job.count() != 1 || len(results) != 3 {
			t.Fatalf("%d effects and %d results, want 1 and 3: the first and two repetitions", job.count(), len(results))
		}
		for _, r := range results[1:] {
			if !bytes.Equal(r.Receipt, results[0].Receipt) || !bytes.Equal(r.Deliverable, results[0].Deliverable) {
				t.Error("a repeated answer differs from the first")
			}
		}
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d copies were not acknowledged, want 0", n)
		}
	})
}

// Checklist 27 and 66: the request again in a new envelope executes nothing.
func TestSameRequestInANewEnvelope(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob, mallory := w.node("bob", serving(job), public(config.DefaultPublic("job"))), w.stranger()
		req := body(w, mallory.call("ix_1", "job"))
		for range 2 {
			mallory.send(bob, task.TypeDelegate, "ix_1", req)
			time.Sleep(time.Second)
		}
		if results := mallory.results(); job.count() != 1 || len(results) != 2 || !bytes.Equal(results[0].Receipt, results[1].Receipt) {
			t.Errorf("%d effects and %d results, want one effect and the same result twice", job.count(), len(results))
		}
		must := func(err error) { w.must(err) }
		must(bob.Lists.Put(mallory.signer.AID(), "deny"))
		mallory.send(bob, task.TypeDelegate, "ix_1", req)
		time.Sleep(time.Second)
		if n := len(mallory.results()); n != 2 {
			t.Errorf("a denied requester was answered again: %d results, want 2", n)
		}
	})
}

// Checklist 27: an id that is held for another request, or another peer, is a
// collision, and nobody is told.
func TestCollisionsAreSilent(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob := w.node("bob", serving(job), public(config.DefaultPublic("job")))
		first, second := w.stranger(), w.stranger()
		first.send(bob, task.TypeDelegate, "ix_1", body(w, first.call("ix_1", "job")))
		time.Sleep(time.Second)
		first.send(bob, task.TypeDelegate, "ix_1", body(w, first.call("ix_1", "job")))
		second.send(bob, task.TypeDelegate, "ix_1", body(w, second.call("ix_1", "job")))
		time.Sleep(time.Second)
		if job.count() != 1 || len(first.open()) != 1 || len(second.open()) != 0 {
			t.Errorf("%d effects, %d and %d messages back; want 1, 1 and 0", job.count(), len(first.open()), len(second.open()))
		}
		if n := bob.Dropped.All()["ix-collision"]; n != 2 {
			t.Errorf("%d collisions were counted, want 2", n)
		}
	})
}

// Checklist 26: a refused delegation stays refused, whatever changes.
func TestRefusedStaysRefused(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob, mallory := w.node("bob", serving(job)), w.stranger()
		e := mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "job")))
		time.Sleep(time.Second)
		if told := mallory.told(); !one(told, "rejected not_accepting") {
			t.Fatalf("the stranger was told %q, want one refusal", told)
		}
		w.must(bob.Lists.Put(mallory.signer.AID(), "allow"))
		w.hub.Put(bob.aid(), e)
		time.Sleep(time.Second)
		w.end(bob)
		bob = w.start(bob.dir, serving(job), open)
		w.hub.Put(bob.aid(), e)
		time.Sleep(time.Second)
		if job.count() != 0 || len(mallory.told()) != 1 {
			t.Errorf("%d effects and %d refusals, want none and the first", job.count(), len(mallory.told()))
		}
		mallory.send(bob, task.TypeDelegate, "ix_2", body(w, mallory.call("ix_2", "job")))
		time.Sleep(time.Second)
		if job.count() != 1 {
			t.Error("a new delegation of the peer that is allowed now was not run")
		}
	})
}

// D15, checklist 64: what a stranger leaves in the mailbox holds nothing up and
// does not stay.
func TestPoisonedMailbox(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob := w.node("bob", serving(job), public(config.DefaultPublic("job")))
		mallory, good := w.stranger(), w.stranger()
		w.end(bob)
		for i := range 150 {
			w.hub.Put(bob.aid(), fmt.Appendf(nil, "no envelope %d", i))
		}
		for i := range 20 {
			text := body(w, task.ChatMsg{Kind: task.KindText, Body: "hello?"})
			mallory.send(bob, task.TypeMessage, fmt.Sprint("ix_none_", i), text)
		}
		mallory.send(bob, "anet.unheard/1", "ix_1", []byte{0xa0})
		mallory.send(bob, task.TypeDelegate, "ix_1", []byte{0xf6})
		good.send(bob, task.TypeDelegate, "ix_good", body(w, good.call("ix_good", "job")))
		w.start(bob.dir, serving(job), public(config.DefaultPublic("job")))
		time.Sleep(2 * time.Second)
		if job.count() != 1 || len(good.results()) != 1 {
			t.Errorf("%d effects and %d results behind the poison, want one of each", job.count(), len(good.results()))
		}
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d messages stay in the mailbox, want 0", n)
		}
		if n := len(mallory.told()); n != 6 {
			t.Errorf("the stranger was told of %d unknown tasks, want 6 and then silence", n)
		}
	})
}

// Checklist 64: a message that overtook its task waits for it, if its sender is
// known here.
func TestMessageBeforeItsTask(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, friend := w.node("bob"), w.stranger()
		w.must(bob.Lists.Put(friend.signer.AID(), "allow"))
		friend.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindText, Body: "and please hurry"}))
		time.Sleep(time.Second)
		if n := len(w.hub.Mail(bob.aid())); n != 1 {
			t.Fatalf("%d messages wait in the mailbox, want the early one", n)
		}
		req, err := task.NewDelegate(friend.signer, "ix_1", task.NewText("do it"))
		w.must(err)
		friend.send(bob, task.TypeDelegate, "ix_1", body(w, req))
		time.Sleep(15 * time.Second)
		thread, err := bob.Thread(t.Context(), "ix_1")
		if err != nil || len(thread.Messages) != 1 || thread.Messages[0].Text != "and please hurry" {
			t.Errorf("the thread is %+v, %v; want the early message in it", thread.Messages, err)
		}
		friend.send(bob, task.TypeMessage, "ix_never", body(w, task.ChatMsg{Kind: task.KindText, Body: "x"}))
		time.Sleep(20 * time.Minute)
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d messages wait after the window, want 0", n)
		}
	})
}

// Checklist 65: a cancellation that overtook its task.
func TestCancelBeforeItsTask(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob, mallory := w.node("bob", serving(job), public(config.DefaultPublic("job"))), w.stranger()
		mallory.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindCancel}))
		time.Sleep(time.Second)
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "job")))
		time.Sleep(time.Second)
		if told := mallory.told(); job.count() != 0 || !one(told, "canceled ") {
			t.Errorf("%d effects, told %q; want none and canceled", job.count(), told)
		}
	})
}

// L.10: to deny a peer ends what it has open on both sides.
func TestDenyingCancels(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job", block: make(chan struct{})}
		bob, alice := w.node("bob", serving(job), open), w.node("alice", open)
		w.allow(bob, alice)
		text, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "hello"})
		w.must(err)
		call, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job"})
		w.must(err)
		mine, err := bob.StartTask(t.Context(), Order{Provider: alice.aid(), Text: "hello back"})
		w.must(err)
		synctest.Wait()
		w.must(bob.SetPeer(t.Context(), alice.aid(), Deny))
		for _, id := range []string{text.ID, call.ID} {
			if s := w.wait(alice, id, time.Minute).State; s != "canceled" {
				t.Errorf("alice's task is %s after she was denied, want canceled", s)
			}
		}
		if s := w.wait(bob, mine.ID, time.Minute).State; s != "canceled" {
			t.Errorf("bob's own task is %s after he denied its provider, want canceled", s)
		}
	})
}

// L.10 holds for an agent that was denied while the node was down, too.
func TestDeniedWhileDown(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob", open), w.node("alice")
		text, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Second)
		w.end(bob)
		w.must(bob.Lists.Put(alice.aid(), peers.Deny))
		w.start(bob.dir, open)
		if s := w.wait(alice, text.ID, time.Minute).State; s != "canceled" {
			t.Errorf("alice's task is %s after she was denied, want canceled", s)
		}
	})
}

// A list that cannot be read denies everybody for now and ends nothing for good.
func TestAnUnreadableDenyListCancelsNothing(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob", open), w.node("alice")
		text, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Second)
		w.end(bob)
		w.must(os.Symlink("nowhere", filepath.Join(bob.dir, "peers.deny")))
		bob = w.start(bob.dir, open)
		time.Sleep(time.Second)
		if s := w.wait(bob, text.ID, 0).State; s != "submitted" {
			t.Errorf("alice's task is %s, want submitted", s)
		}
	})
}

// The identity of a stranger is on its task and nowhere else (E.10).
func TestStrangersLeaveNoRecord(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob := w.node("bob", serving(job), public(config.DefaultPublic("job")))
		alice := w.node("alice")
		w.call(alice, Order{Provider: bob.aid(), Capability: "job"})
		stored := func(at *running, aid string) (found bool) {
			w.must(at.Journal.Read(t.Context(), func(tx *journal.Tx) (err error) { _, found, err = tx.Peer(aid); return err }))
			return found
		}
		if stored(bob, alice.aid()) || !stored(alice, bob.aid()) {
			t.Errorf("stored: the stranger at the provider %v, the provider at the requester %v; want false, true",
				stored(bob, alice.aid()), stored(alice, bob.aid()))
		}
	})
}
