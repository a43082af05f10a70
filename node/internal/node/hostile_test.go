package node

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/task"
)

// unsealable gives the stranger a key set that verifies and that nobody can
// seal to: its one key is the zero point of the curve.
func (s *stranger) unsealable() {
	set, err := enckeys.Parse(s.keyset)
	s.w.must(err)
	pub := make([]byte, 32)
	set.Set.Keys[0].Pub, set.Set.Keys[0].KID = pub, enckeys.NewKID(envelope.SuiteX25519, pub)
	set.Bytes, err = codec.Marshal(set.Set)
	s.w.must(err)
	set.Sig = s.signer.Sign(set.Bytes)
	s.keyset, err = set.Wire()
	s.w.must(err)
	s.w.hub.Register(s.signer.AID(), s.signer.KEL(), s.keyset)
}

// A caller to whom nothing can be sealed costs its own answer and nothing more:
// the place of its call is free again, and the node starts the next time.
func TestACallerNobodyCanAnswer(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		limits := config.DefaultPublic("x")
		limits.MaxInflight = 1
		work := &counter{cap: "x"}
		bob, alice, mallory := w.node("bob", public(limits), serving(work)), w.node("alice"), w.stranger()
		mallory.unsealable()
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "x")))
		time.Sleep(time.Second)
		wantOutcome(t, "another caller", w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), "completed OK  verified")
		time.Sleep(time.Second)
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d messages stay in the mailbox, want none", n)
		}
		w.end(bob)
		bob = w.start(bob.dir, public(limits), serving(work))
		wantOutcome(t, "after a restart", w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), "completed OK  verified")
	})
}

// A kill between the work and its answer leaves the answer to the next start,
// which such a caller must not keep from happening.
func TestACallerNobodyCanAnswerAfterAKill(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var killed string
		bob, mallory := w.node("bob"), w.stranger()
		mallory.unsealable()
		work := &counter{cap: "x", after: func() { killed = w.snapshot(bob) }}
		w.end(bob)
		bob = w.start(bob.dir, public(config.DefaultPublic("x")), serving(work))
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "x")))
		time.Sleep(time.Second)
		w.end(bob)
		again := w.start(killed, public(config.DefaultPublic("x")), serving(work))
		time.Sleep(time.Second)
		wantOutcome(t, "the interrupted call", w.inbox(again)[0], "completed UNVERIFIED interrupted verified")
	})
}

// Whoever would be refused is refused with a cancellation sent ahead, too: it
// opens nothing, and leaves nothing in the journal.
func TestACancellationAheadOpensNothing(t *testing.T) {
	for _, tt := range []struct {
		name  string
		order func(s *stranger) task.DelegateReq
	}{
		{"words", func(s *stranger) task.DelegateReq { return s.words("ix_1") }},
		{"a call", func(s *stranger) task.DelegateReq { return s.call("ix_1", "x") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				bob, mallory := w.node("bob"), w.stranger()
				mallory.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindCancel}))
				time.Sleep(time.Second)
				mallory.send(bob, task.TypeDelegate, "ix_1", body(w, tt.order(mallory)))
				time.Sleep(time.Second)
				if told, kept := mallory.told(), w.inbox(bob); !one(told, "rejected not_accepting") || len(kept) != 0 {
					t.Errorf("told %q, and the inbox holds %d tasks; want rejected not_accepting and none", told, len(kept))
				}
			})
		})
	}
}

// Nobody can fill the memory of cancellations alone, and a listed peer always
// has a place in it.
func TestCancellationsAheadAreBounded(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, mallory, friend := w.node("bob"), w.stranger(), w.stranger()
		w.must(bob.Lists.Put(friend.signer.AID(), peers.Allow))
		for i := range 40 {
			mallory.send(bob, task.TypeMessage, fmt.Sprint("ix_", i), body(w, task.ChatMsg{Kind: task.KindCancel}))
		}
		time.Sleep(time.Second)
		var of int
		w.must(bob.Journal.Read(t.Context(), func(tx *journal.Tx) (err error) {
			of, _, err = tx.EarlyCancels(mallory.signer.AID())
			return err
		}))
		if of != 32 {
			t.Errorf("%d cancellations of one stranger are kept, want 32", of)
		}
		friend.send(bob, task.TypeMessage, "ix_f", body(w, task.ChatMsg{Kind: task.KindCancel}))
		time.Sleep(time.Second)
		friend.send(bob, task.TypeDelegate, "ix_f", body(w, friend.words("ix_f")))
		time.Sleep(time.Second)
		if told := friend.told(); !one(told, "canceled ") {
			t.Errorf("the friend was told %q, want canceled", told)
		}
	})
}

// A public capability takes arguments of a size: what comes beside them is kept
// on this node's disk as well, and is no way around.
func TestWhatComesBesideTheArguments(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 128<<10)
	file, err := task.NewAttachment("a", "text/plain", big)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		order func(w *world, s *stranger) task.DelegateReq
		want  string
	}{
		{"a file", func(_ *world, s *stranger) task.DelegateReq {
			req := s.call("ix_1", "x")
			req.Attachments = []task.Attachment{file}
			return req
		}, "rejected args_too_large"},
		{"many empty files", func(_ *world, s *stranger) task.DelegateReq {
			empty, err := task.NewAttachment("", "", nil)
			s.w.must(err)
			req := s.call("ix_1", "x")
			req.Attachments = slices.Repeat([]task.Attachment{empty}, 1000)
			return req
		}, "rejected args_too_large"},
		{"a goal in words", func(w *world, s *stranger) task.DelegateReq {
			doc, err := task.NewCall("x", nil)
			w.must(err)
			doc.Tasks[0].Intent.Body = string(big)
			req, err := task.NewDelegate(s.signer, "ix_1", doc)
			w.must(err)
			return req
		}, "rejected args_too_large"},
		{"little", func(_ *world, s *stranger) task.DelegateReq { return s.call("ix_1", "x") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				work := &counter{cap: "x"}
				bob, mallory := w.node("bob", public(config.DefaultPublic("x")), serving(work)), w.stranger()
				mallory.send(bob, task.TypeDelegate, "ix_1", body(w, tt.order(w, mallory)))
				time.Sleep(time.Second)
				if told := strings.Join(mallory.told(), ","); told != tt.want || work.count() != len(w.inbox(bob)) {
					t.Errorf("told %q, %d effects, %d tasks kept; want %q", told, work.count(), len(w.inbox(bob)), tt.want)
				}
			})
		})
	}
}

// Nobody reads what is said in a public call, so nothing is kept of it but that
// it was said.
func TestWordsInAPublicCallAreNotKept(t *testing.T) {
	file, err := task.NewAttachment("a", "text/plain", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	story(t, func(t *testing.T, w *world) {
		work := &counter{cap: "x", limit: time.Hour, block: make(chan struct{})}
		bob, mallory := w.node("bob", public(config.DefaultPublic("x")), serving(work)), w.stranger()
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "x")))
		mallory.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{
			Kind: task.KindEndRequest, Body: "long words", Attachments: []task.Attachment{file},
		}))
		time.Sleep(time.Second)
		thread, err := bob.Thread(t.Context(), "ix_1")
		if err != nil || len(thread.Messages) != 1 || thread.Messages[0].Text != "" || len(thread.Messages[0].Files) != 0 {
			t.Errorf("the thread is %+v, %v; want the bare wish for an end", thread.Messages, err)
		}
	})
}

// Checklist 15: a hub that shows its own, perfectly valid keys for somebody else
// is not sealed to, and not the end of the message either.
func TestAHubThatShowsOtherKeys(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		work := &counter{cap: "x"}
		bob, alice, mallory := w.node("bob", public(config.DefaultPublic("x")), serving(work)), w.node("alice"), w.stranger()
		keyset, err := bob.Keys.Published(time.Now())
		w.must(err)
		w.hub.Register(bob.aid(), mallory.signer.KEL(), mallory.keyset)
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "x"})
		w.must(err)
		time.Sleep(time.Minute)
		if got := w.wait(alice, asked.ID, 0); got.Delivery != "queued" || len(w.hub.Mail(bob.aid())) != 0 {
			t.Errorf("delivery %s, want queued: nothing may be sealed to these keys", got.Delivery)
		}
		w.hub.Register(bob.aid(), bob.Keys.Signer().KEL(), keyset)
		wantOutcome(t, "once the hub tells the truth", w.wait(alice, asked.ID, time.Hour), "completed OK  verified")
	})
}

// L.5: an agent that is denied is not listened to, in no role.
func TestADeniedProviderIsNotListenedTo(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice"), w.stranger()
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Second)
		w.must(alice.Lists.Put(mallory.signer.AID(), peers.Deny))
		mallory.send(alice, task.TypeStatus, asked.ID, body(w, task.StatusMsg{State: task.Failed}))
		mallory.send(alice, task.TypeMessage, asked.ID, body(w, task.ChatMsg{Kind: task.KindText, Body: "well"}))
		mallory.send(alice, task.TypeResult, asked.ID, mallory.result(mallory.open()[0], func(*evidence.Receipt, *task.ResultResp) {}))
		time.Sleep(time.Second)
		wantOutcome(t, "the task", w.wait(alice, asked.ID, 0), "submitted -  unknown")
		if n := alice.Dropped.All()["denied"]; n != 3 {
			t.Errorf("dropped %v, want three as denied", alice.Dropped.All())
		}
	})
}

// L.6: what was pushed out of the memory of refusals stays refused, and the same
// sender's later requests are heard.
func TestRequestsBelowTheFloor(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, mallory := w.node("bob", open), w.stranger()
		w.must(bob.Journal.Write(t.Context(), func(tx *journal.Tx) error {
			for i := range journal.RefusalsPerSender + 1 {
				r := journal.Refusal{From: mallory.signer.AID(), MID: fmt.Append(nil, i), TS: tx.Now(), Exp: tx.Now().Add(time.Hour)}
				if err := tx.Refuse(r); err != nil {
					return err
				}
			}
			return nil
		}))
		mallory.send(bob, task.TypeDelegate, "ix_old", body(w, mallory.words("ix_old")), func(d *envelope.Draft) { d.TS-- })
		time.Sleep(time.Second)
		mallory.send(bob, task.TypeDelegate, "ix_new", body(w, mallory.words("ix_new")))
		time.Sleep(time.Second)
		if kept := w.inbox(bob); len(kept) != 1 || kept[0].ID != "ix_new" || bob.Dropped.All()["refused-floor"] != 1 {
			t.Errorf("%d tasks kept, dropped %v; want the newer one only", len(kept), bob.Dropped.All())
		}
	})
}

// A denied peer hears of an unknown task what a stranger hears: silence would
// tell it that it is denied.
func TestADeniedPeerHearsWhatAStrangerHears(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, denied, mallory := w.node("bob"), w.stranger(), w.stranger()
		w.must(bob.Lists.Put(denied.signer.AID(), peers.Deny))
		for _, s := range []*stranger{denied, mallory} {
			s.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindText, Body: "hello?"}))
		}
		time.Sleep(time.Second)
		if a, b := denied.told(), mallory.told(); !one(b, "rejected TaskNotFoundError") || !slices.Equal(a, b) {
			t.Errorf("the denied peer heard %q, the stranger %q", a, b)
		}
	})
}
