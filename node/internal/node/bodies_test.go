package node

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/task"
)

// Checklist 28, 30 and 31: what cannot be read in one way, or is not what it
// says, is dropped for good, and the task stays as it was.
func TestAnswersThatCannotBeTaken(t *testing.T) {
	file := task.Attachment{Name: "a", Mime: "text/plain", Size: 2, CID: "bafkrei", Data: []byte("x")}
	for _, tt := range []struct {
		name, kind string
		body       func(w *world) []byte
		dropped    string
	}{
		{"a state no status may name", task.TypeStatus, func(w *world) []byte { return body(w, task.StatusMsg{State: "done"}) }, "bad-status-state"},
		{"a status of completed", task.TypeStatus, func(w *world) []byte { return body(w, task.StatusMsg{State: task.Completed}) }, "bad-status-state"},
		{"no map", task.TypeStatus, func(*world) []byte { return []byte{0xf6} }, "bad-body"},
		{"metadata with a name twice", task.TypeStatus, func(w *world) []byte {
			return body(w, task.StatusMsg{State: task.Failed, Metadata: []byte(`{"anet.reason":"a","anet.reason":"b"}`)})
		}, "bad-metadata"},
		{"metadata with names that differ by case", task.TypeMessage, func(w *world) []byte {
			return body(w, task.ChatMsg{Kind: task.KindText, Metadata: []byte(`{"anet.state":"working","Anet.State":"x"}`)})
		}, "bad-metadata"},
		{"a file that is not the one it says", task.TypeMessage, func(w *world) []byte {
			return body(w, task.ChatMsg{Kind: task.KindText, Attachments: []task.Attachment{file}})
		}, "bad-attachment"},
		{"a kind of wire 1", task.TypeMessage, func(w *world) []byte { return body(w, task.ChatMsg{Kind: "end_accept"}) }, "wrong-kind"},
		{"a provider's cancel", task.TypeMessage, func(w *world) []byte { return body(w, task.ChatMsg{Kind: task.KindCancel}) }, "wrong-kind"},
		{"a type nobody knows", "anet.news/1", func(*world) []byte { return []byte{0xa0} }, "unknown-type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
				w.must(err)
				time.Sleep(time.Second)
				mallory.send(alice, tt.kind, asked.ID, tt.body(w))
				time.Sleep(time.Second)
				wantOutcome(t, tt.name, w.wait(alice, asked.ID, 0), "submitted -  unknown")
				if n := alice.Dropped.All(); n[tt.dropped] != 1 || len(w.hub.Mail(alice.aid())) != 0 {
					t.Errorf("dropped %v, %d messages stay; want one counted as %s and none", n, len(w.hub.Mail(alice.aid())), tt.dropped)
				}
			})
		})
	}
}

// Checklist 28 and 33: what a provider says of itself is taken as it stands.
func TestStatusesOfAForeignProvider(t *testing.T) {
	for _, tt := range []struct{ name, meta, want string }{
		{"a reason nobody here knows", `{"anet.reason":"moon_phase"}`, "rejected UNAVAILABLE moon_phase unknown"},
		{"a task that was lost", `{"anet.a2aError":"TaskNotFound"}`, "rejected UNVERIFIED  unknown"},
		{"members nobody knows", `{"x":1}`, "rejected UNAVAILABLE  unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
				w.must(err)
				time.Sleep(time.Second)
				mallory.send(alice, task.TypeStatus, asked.ID, body(w, task.StatusMsg{State: task.Rejected, Metadata: []byte(tt.meta)}))
				time.Sleep(time.Second)
				wantOutcome(t, tt.name, w.wait(alice, asked.ID, 0), tt.want)
			})
		})
	}
}

// Checklist 30 and 31 hold for requests, too: one that is not what it says is no
// task.
func TestRequestsThatCannotBeTaken(t *testing.T) {
	for name, spoil := range map[string]func(*task.DelegateReq){
		"bad-attachment": func(r *task.DelegateReq) {
			r.Attachments = []task.Attachment{{Name: "a", Size: 2, CID: "x", Data: []byte("x")}}
		},
		"bad-metadata": func(r *task.DelegateReq) { r.Metadata = []byte(`{"a":1,"a":2}`) },
		"bad-delegate": func(r *task.DelegateReq) { r.InteractionID = "ix_other" },
		"bad-task-doc": func(r *task.DelegateReq) { r.TaskDoc = []byte{0xa0} },
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				bob, mallory := w.node("bob", open), w.stranger()
				req := mallory.words("ix_1")
				spoil(&req)
				mallory.send(bob, task.TypeDelegate, "ix_1", body(w, req))
				time.Sleep(time.Second)
				if n, kept := bob.Dropped.All(), w.inbox(bob); n[name] != 1 || len(kept) != 0 || len(w.hub.Mail(bob.aid())) != 0 {
					t.Errorf("dropped %v, %d tasks kept, %d messages stay; want one dropped and nothing else", n, len(kept), len(w.hub.Mail(bob.aid())))
				}
			})
		})
	}
}

// L.5: news of a task comes from its provider, and to who started it.
func TestNewsFromAnybodyElse(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice, mallory := w.node("bob", open), w.node("alice"), w.stranger()
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Second)
		failed := body(w, task.StatusMsg{State: task.Failed})
		ended := body(w, task.ResultResp{Status: task.StatusDone})
		words := body(w, task.ChatMsg{Kind: task.KindText, Body: "who, me?"})
		for _, m := range []struct {
			at      *running
			kind    string
			body    []byte
			dropped string
		}{
			{alice, task.TypeStatus, failed, "not-peer"}, {alice, task.TypeResult, ended, "not-peer"}, {alice, task.TypeMessage, words, "not-peer"},
			{bob, task.TypeStatus, failed, "wrong-kind"}, {bob, task.TypeResult, ended, "wrong-kind"}, {bob, task.TypeMessage, words, "not-peer"},
		} {
			before := m.at.Dropped.All()[m.dropped]
			mallory.send(m.at, m.kind, asked.ID, m.body)
			time.Sleep(time.Second)
			if n := m.at.Dropped.All(); n[m.dropped] != before+1 {
				t.Errorf("a stranger's %s: dropped %v, want one more as %s", m.kind, n, m.dropped)
			}
		}
		wantOutcome(t, "at the requester", w.wait(alice, asked.ID, 0), "submitted -  unknown")
		wantOutcome(t, "at the provider", w.inbox(bob)[0], "submitted -  unknown")
	})
}

// K.6: a quote is no end, and it is told apart from a question; what comes after
// it is judged anew.
func TestAQuoteAsksToBePaid(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice"), w.stranger()
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
		w.must(err)
		time.Sleep(time.Second)
		for _, tt := range []struct {
			name, meta string
			state      task.State
			want       string
		}{
			{"a quote", `{"x402.payment.status":"payment-required"}`, task.InputRequired, "input-required PAYMENT_REQUIRED  unknown"},
			{"paid", `{"x402.payment.status":"payment-verified"}`, task.Working, "working -  unknown"},
			{"a question", `{}`, task.InputRequired, "input-required -  unknown"},
		} {
			mallory.send(alice, task.TypeStatus, asked.ID, body(w, task.StatusMsg{State: tt.state, Metadata: []byte(tt.meta)}))
			time.Sleep(time.Second)
			wantOutcome(t, tt.name, w.wait(alice, asked.ID, 0), tt.want)
		}
	})
}

// L.5: a result may ask for more; then the one after it ends the task, with its
// own receipt. After the end the first stands.
func TestAResultThatAsksForMore(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice"), w.stranger()
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Second)
		req := mallory.open()[0]
		for i, state := range []string{"input-required", "completed", "completed"} {
			mallory.send(alice, task.TypeResult, asked.ID, mallory.result(req, func(r *evidence.Receipt, msg *task.ResultResp) {
				msg.Deliverable = fmt.Appendf(nil, `{"n":%d}`, i)
				msg.Metadata = fmt.Appendf(nil, `{"anet.state":%q}`, state)
				r.ResultCID = codec.CID(msg.Deliverable)
			}))
			time.Sleep(time.Second)
		}
		got := w.wait(alice, asked.ID, 0)
		wantOutcome(t, "the task", got, "completed -  verified")
		var kept journal.Evidence
		w.must(alice.Journal.Read(t.Context(), func(tx *journal.Tx) (err error) {
			kept, _, err = tx.Evidence(asked.ID, journal.Requester)
			return err
		}))
		if string(got.Deliverable) != `{"n":1}` || kept.ResultCID != got.ResultCID {
			t.Errorf("deliverable %s, evidence of %s; want the second and its own", got.Deliverable, kept.ResultCID)
		}
	})
}

// Checklist 23: every attempt carries the same bytes, a restart between them.
func TestSameBytesOnEveryAttempt(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob"), w.node("alice")
		w.end(bob)
		w.hub.LoseAnswers(true)
		_, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "hello"})
		w.must(err)
		time.Sleep(time.Minute)
		w.end(alice)
		w.start(alice.dir)
		time.Sleep(10 * time.Minute)
		mail := w.hub.Mail(bob.aid())
		if len(mail) < 3 {
			t.Fatalf("%d attempts in eleven minutes, want some", len(mail))
		}
		for i, m := range mail {
			if !bytes.Equal(m.Envelope, mail[0].Envelope) {
				t.Errorf("attempt %d carries other bytes than the first", i+1)
			}
		}
	})
}

// Two turns under one id are two turns: the id is the sender's word only.
func TestTurnsUnderOneID(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, friend := w.node("bob", open), w.stranger()
		req, err := task.NewDelegate(friend.signer, "ix_1", task.NewText("do it"))
		w.must(err)
		friend.send(bob, task.TypeDelegate, "ix_1", body(w, req))
		for _, words := range []string{"one", "two"} {
			friend.send(bob, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindText, Body: words, MsgID: "same"}))
		}
		time.Sleep(time.Second)
		thread, err := bob.Thread(t.Context(), "ix_1")
		if err != nil || len(thread.Messages) != 2 || thread.Messages[1].Text != "two" {
			t.Errorf("the thread is %+v, %v; want both turns", thread.Messages, err)
		}
	})
}

// An explicit A2A version that is not ours is refused by its name (F.7).
func TestOtherA2AVersion(t *testing.T) {
	for _, tt := range []struct{ version, want string }{
		{`"1.0"`, "completed"}, {`["1.2"]`, "completed"}, {`"2.0"`, "rejected VersionNotSupportedError"}, {`"0.3"`, "rejected VersionNotSupportedError"},
	} {
		story(t, func(t *testing.T, w *world) {
			bob, mallory := w.node("bob", serving(&counter{cap: "job"}), public(config.DefaultPublic("job"))), w.stranger()
			req := mallory.call("ix_1", "job")
			req.Metadata = []byte(`{"a2a.serviceParameters":{"A2A-Version":` + tt.version + `}}`)
			mallory.send(bob, task.TypeDelegate, "ix_1", body(w, req))
			time.Sleep(time.Second)
			got := "completed"
			if told := mallory.told(); len(told) == 1 {
				got = told[0]
			}
			if got != tt.want || len(mallory.results())+len(mallory.told()) != 1 {
				t.Errorf("version %s: %q, want %q", tt.version, got, tt.want)
			}
		})
	}
}

// Checklist 24: mail sealed to a key that is not held, or cut short, goes.
func TestMailThatDoesNotOpen(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice, mallory := w.node("bob"), w.node("alice"), w.stranger()
		req := body(w, mallory.call("ix_1", "job"))
		whole := mallory.seal(bob, task.TypeDelegate, "ix_1", req)
		w.hub.Put(bob.aid(), whole[:len(whole)-1])
		w.hub.Put(bob.aid(), mallory.seal(alice, task.TypeDelegate, "ix_1", req))
		spoilt := bytes.Clone(whole)
		spoilt[len(spoilt)-1] ^= 1
		w.hub.Put(bob.aid(), spoilt)
		synctest.Wait()
		time.Sleep(time.Second)
		n := bob.Dropped.All()
		for _, reason := range []envelope.Reason{envelope.BadOuter, envelope.WrongRecipient, envelope.DecryptFailed} {
			if n[string(reason)] != 1 {
				t.Errorf("dropped %v, want one as %s", n, reason)
			}
		}
		if left := len(w.hub.Mail(bob.aid())); left != 0 {
			t.Errorf("%d messages stay in the mailbox, want 0", left)
		}
	})
}
