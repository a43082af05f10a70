package node

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/task"
)

// Checklist 29: a result counts only with every binding of its receipt.
func TestResultsThatDoNotHold(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*evidence.Receipt, *task.ResultResp)
		want  string
	}{
		{"as it should be", func(*evidence.Receipt, *task.ResultResp) {}, "completed OK  verified"},
		{"another request", func(r *evidence.Receipt, _ *task.ResultResp) { r.RequestCID = codec.CID([]byte("x")) }, "submitted -  unknown"},
		{"another result", func(_ *evidence.Receipt, r *task.ResultResp) { r.Deliverable = []byte(`{"status":"OK","more":1}`) }, "submitted -  unknown"},
		{"another task", func(r *evidence.Receipt, _ *task.ResultResp) { r.Interaction = "ix_other" }, "submitted -  unknown"},
		{"another requester", func(r *evidence.Receipt, _ *task.ResultResp) { r.Requester = r.Provider }, "submitted -  unknown"},
		{"another provider", func(r *evidence.Receipt, _ *task.ResultResp) { r.Provider = r.Requester }, "submitted -  unknown"},
		{"no receipt", func(_ *evidence.Receipt, r *task.ResultResp) { r.Receipt = []byte{} }, "submitted -  unknown"},
		{"a history that is another's", func(_ *evidence.Receipt, r *task.ResultResp) { r.KEL = []byte{0x80} }, "submitted -  unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory, other := w.node("alice"), w.stranger(), w.stranger()
				asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
				w.must(err)
				time.Sleep(time.Second)
				req := mallory.open()[0]
				result := mallory.result(req, tt.spoil)
				other.send(alice, task.TypeResult, asked.ID, result) // somebody else says it
				time.Sleep(time.Second)
				if got := w.wait(alice, asked.ID, 0); outcome(got) != "submitted -  unknown" {
					t.Errorf("another's result was taken: %s", outcome(got))
				}
				mallory.send(alice, task.TypeResult, asked.ID, result)
				time.Sleep(time.Second)
				wantOutcome(t, tt.name, w.wait(alice, asked.ID, 0), tt.want)
			})
		})
	}
}

// Checklist 22 and 24: messages that are dropped for good and acknowledged.
func TestMessagesOutsideTheirTime(t *testing.T) {
	minutes := func(n int) uint64 { return uint64((time.Duration(n) * time.Minute).Milliseconds()) }
	for _, tt := range []struct {
		name string
		edit func(*envelope.Draft)
		runs bool
	}{
		{"now", func(*envelope.Draft) {}, true},
		{"a clock four minutes ahead", func(d *envelope.Draft) { d.TS += minutes(4) }, true},
		{"a clock six minutes ahead", func(d *envelope.Draft) { d.TS += minutes(6) }, false},
		{"expired", func(d *envelope.Draft) { d.TS -= minutes(10); d.Exp = d.TS + minutes(5) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{cap: "job"}
				bob, mallory := w.node("bob", serving(job), public(config.DefaultPublic("job"))), w.stranger()
				mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "job")), tt.edit)
				time.Sleep(time.Second)
				if ran := job.count() == 1; ran != tt.runs {
					t.Errorf("ran: %v, want %v; dropped %v", ran, tt.runs, bob.Dropped.All())
				}
				if n := len(w.hub.Mail(bob.aid())); n != 0 {
					t.Errorf("%d messages stay in the mailbox, want 0", n)
				}
			})
		})
	}
}

// Checklist 22: a key that was rotated away counts for an hour and no longer,
// and the next messages carry the longer history.
func TestRotationOfAPeer(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob, mallory := w.node("bob", serving(job), public(config.DefaultPublic("job"))), w.stranger()
		old := *mallory
		sealed := old.seal(bob, task.TypeDelegate, "ix_1", body(w, old.call("ix_1", "job")))
		late := old.seal(bob, task.TypeDelegate, "ix_2", body(w, old.call("ix_2", "job")))
		time.Sleep(time.Minute)
		next, err := mallory.signer.Rotate(rand.Reader, time.Now())
		w.must(err)
		mallory.signer = next
		mallory.send(bob, task.TypeDelegate, "ix_3", body(w, mallory.call("ix_3", "job")))
		time.Sleep(time.Minute)
		w.hub.Put(bob.aid(), sealed)
		time.Sleep(time.Minute)
		if job.count() != 2 {
			t.Errorf("within the hour %d calls ran, want 2; dropped %v", job.count(), bob.Dropped.All())
		}
		old.send(bob, task.TypeDelegate, "ix_4", body(w, old.call("ix_4", "job")))
		time.Sleep(time.Hour)
		w.hub.Put(bob.aid(), late)
		time.Sleep(time.Minute)
		if n := bob.Dropped.All(); job.count() != 2 || n["rotation-grace-expired"] != 1 || n["revoked-key"] != 1 {
			t.Errorf("later %d calls ran, dropped %v; want both old messages refused", job.count(), n)
		}
	})
}

// What a message within a task proves of its sender is kept as what a request
// proves is: the key that was rotated away opens nothing afterwards.
func TestRotationIsLearnedFromAMessage(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, friend := w.node("bob"), w.stranger()
		w.must(bob.Lists.Put(friend.signer.AID(), peers.Allow))
		friend.send(bob, task.TypeDelegate, "ix_1", body(w, friend.words("ix_1")))
		time.Sleep(time.Second)
		old := *friend
		next, err := friend.signer.Rotate(rand.Reader, time.Now())
		w.must(err)
		friend.signer = next
		friend.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindText, Body: "and this"}))
		time.Sleep(2 * time.Hour)
		old.send(bob, task.TypeDelegate, "ix_2", body(w, old.words("ix_2")))
		time.Sleep(time.Second)
		if kept := w.inbox(bob); len(kept) != 1 {
			t.Errorf("%d tasks are kept, want one: the other is signed with a key that retired; dropped %v", len(kept), bob.Dropped.All())
		}
	})
}

// A rotation of this node's own key does not spoil what waits to be sealed.
func TestRotationWhileARequestWaits(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job"}
		bob := w.node("bob", serving(job), public(config.DefaultPublic("job")))
		alice := w.node("alice")
		alice.line.Break("keys")
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job"})
		w.must(err)
		time.Sleep(time.Second)
		w.must(alice.Keys.(*keyring.Keyring).Rotate(time.Now()))
		dir := alice.dir
		w.end(alice)
		alice = w.start(dir)
		wantOutcome(t, "the call", w.wait(alice, asked.ID, time.Hour), "completed OK  verified")
	})
}
