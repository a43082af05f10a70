package node

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// outcome is what a requester's program looks at.
func outcome(t Task) string {
	e := "-"
	if t.Effect != nil {
		e = *t.Effect
	}
	return t.State + " " + e + " " + t.Reason + " " + t.ReceiptVerified
}

func wantOutcome(t *testing.T, what string, got Task, want string) {
	t.Helper()
	if outcome(got) != want {
		t.Errorf("%s: %s (%s), want %s", what, outcome(got), got.Note, want)
	}
	if (got.Reason != "") != (got.Message != "") {
		t.Errorf("%s: the reason %q comes with the sentence %q", what, got.Reason, got.Message)
	}
}

func TestPublicCallOfAStranger(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		digest := &counter{cap: "text.digest"}
		bob := w.node("bob", serving(digest), public(config.DefaultPublic("text.digest")))
		alice := w.node("alice")
		got := w.call(alice, Order{Provider: bob.aid(), Capability: "text.digest", Args: json.RawMessage(`{"text":"x"}`)})
		wantOutcome(t, "the call", got, "completed OK  verified")
		d, err := effect.Parse(got.Deliverable)
		if err != nil || d.Capability != "text.digest" || string(d.Metrics) != `{"bytes":12}` {
			t.Errorf("deliverable %s, %v; want the provider's metrics", got.Deliverable, err)
		}
		if digest.count() != 1 {
			t.Errorf("%d effects, want 1", digest.count())
		}
		theirs := w.inbox(bob)
		if len(theirs) != 1 || theirs[0].RequestCID != got.RequestCID || theirs[0].ResultCID != got.ResultCID {
			t.Errorf("the provider's record %+v does not agree with the requester's", theirs)
		}
		time.Sleep(time.Second) // acknowledgements let the answer go first
		if n := len(w.hub.Mail(bob.aid())) + len(w.hub.Mail(alice.aid())); n != 0 {
			t.Errorf("%d messages were not acknowledged, want 0", n)
		}
	})
}

// Sections L.1 to L.3: every refusal is typed and told at once.
func TestRefusals(t *testing.T) {
	small := config.DefaultPublic("text.small")
	small.MaxArgsBytes = 2
	for _, tt := range []struct {
		name     string
		options  []option
		listed   bool
		deny     bool
		order    Order
		want     string
		attempts int
	}{
		{"a stranger's text, closed", nil, false, false, Order{Text: "hello"}, "rejected - not_accepting unknown", 0},
		{"a stranger's call, closed", nil, false, false, Order{Capability: "text.digest"}, "rejected UNAVAILABLE not_accepting unknown", 0},
		{"a denied stranger, closed", nil, false, true, Order{Text: "hello"}, "rejected - not_accepting unknown", 0},
		{"a denied stranger, open", []option{open}, false, true, Order{Text: "hello"}, "rejected - denied unknown", 0},
		{"a private call, open", []option{open}, false, false, Order{Capability: "text.digest"}, "rejected UNAVAILABLE capability_not_public unknown", 0},
		{"a listed peer calls what nobody serves", nil, true, false, Order{Capability: "text.nothing"}, "rejected UNAVAILABLE capability_not_served verified", 0},
		{"a public id nobody serves", []option{public(config.DefaultPublic("text.gone"))}, false, false, Order{Capability: "text.gone"}, "rejected UNAVAILABLE capability_not_served verified", 0},
		{"arguments too large", []option{public(small)}, false, false, Order{Capability: "text.small", Args: json.RawMessage(`{"a":1}`)}, "rejected UNAVAILABLE args_too_large unknown", 0},
		{"a priced call, and no ledger", []option{unpayable, serving(&counter{cap: "text.paid", price: 5}), public(config.DefaultPublic("text.paid"))}, false, false, Order{Capability: "text.paid"}, "rejected UNAVAILABLE payments_unavailable verified", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				bob, alice := w.node("bob", tt.options...), w.node("alice")
				if tt.listed {
					w.allow(bob, alice)
				}
				if tt.deny {
					w.must(bob.Lists.Put(alice.aid(), "deny"))
				}
				tt.order.Provider = bob.aid()
				got := w.call(alice, tt.order)
				wantOutcome(t, tt.name, got, tt.want)
				if time.Since(got.Created) > time.Second {
					t.Errorf("the refusal took %v, want it at once", time.Since(got.Created))
				}
				if !task.Reason(got.Reason).Known() {
					t.Errorf("the reason %q has no words for people", got.Reason)
				}
			})
		})
	}
}

// Where the hub carried a call to another hub, the task says which.
func TestATaskSaysWhoCarriedIt(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob", serving(&counter{cap: "text.digest"}), public(config.DefaultPublic("text.digest"))), w.node("alice")
		order := Order{Provider: bob.aid(), Capability: "text.digest"}
		if got := w.call(alice, order); got.ViaHub != "" {
			t.Errorf("at the same hub it went via %q", got.ViaHub)
		}
		w.hub.Carry("the other hub")
		if got := w.call(alice, order); got.ViaHub != "the other hub" {
			t.Errorf("it went via %q, want the other hub", got.ViaHub)
		}
	})
}

func TestTextTask(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob"), w.node("alice")
		w.allow(bob, alice)
		asked, err := alice.StartTask(t.Context(), Order{
			Provider: bob.aid(), Text: "translate this", Files: []File{{Name: "a.txt", Mime: "text/plain", Data: []byte("hello")}},
		})
		w.must(err)
		synctest.Wait()
		theirs := w.inbox(bob)
		if len(theirs) != 1 || theirs[0].Text != "translate this" || theirs[0].State != "submitted" {
			t.Fatalf("bob's inbox = %+v, want the request", theirs)
		}
		thread, err := bob.Thread(t.Context(), asked.ID)
		w.must(err)
		if len(thread.Files) != 1 {
			t.Fatalf("bob sees %d files, want 1", len(thread.Files))
		}
		file, err := bob.File(t.Context(), asked.ID, thread.Files[0].CID)
		if err != nil || string(file.Data) != "hello" {
			t.Errorf("bob's copy of the file = %q, %v", file.Data, err)
		}

		_, err = bob.Message(t.Context(), asked.ID, "into which language?", nil)
		w.must(err)
		synctest.Wait()
		if s := w.wait(alice, asked.ID, 0).State; s != "input-required" {
			t.Errorf("after the question alice's task is %s, want input-required", s)
		}
		_, err = alice.Message(t.Context(), asked.ID, "german", nil)
		w.must(err)
		synctest.Wait()
		_, err = bob.End(t.Context(), asked.ID, "hallo", []File{{Name: "b.txt", Data: []byte("hallo")}})
		w.must(err)
		got := w.wait(alice, asked.ID, time.Minute)
		wantOutcome(t, "the text task", got, "completed -  verified")
		transcript, err := task.ParseTranscript(got.Deliverable)
		w.must(err)
		var said []string
		for _, m := range transcript.Messages {
			said = append(said, m.From+": "+m.Body)
		}
		if want := []string{"provider: into which language?", "requester: german", "provider: hallo"}; !equal(said, want) {
			t.Errorf("the transcript is %q, want %q", said, want)
		}
		if n := len(transcript.Messages[2].Attachments); n != 1 {
			t.Errorf("the last words have %d files, want 1", n)
		}
		if _, err := alice.Message(t.Context(), asked.ID, "more", nil); !errs.Is(err, "task_ended") {
			t.Errorf("a message after the end: %v, want task_ended", err)
		}
	})
}

func equal(a, b []string) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// L.9: a provider whose person is away is not taken for a dead one.
func TestWaitingTaskIsReportedAsSeen(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, alice := w.node("bob", open), w.node("alice")
		asked, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Text: "no hurry"})
		w.must(err)
		time.Sleep(2 * time.Minute)
		if s := w.wait(alice, asked.ID, 0).State; s != "working" {
			t.Errorf("after two minutes the task is %s, want working", s)
		}
		time.Sleep(time.Hour)
		if s := w.wait(alice, asked.ID, 0).State; s != "working" {
			t.Errorf("after an hour the task is %s, want it still open", s)
		}
	})
}

// Checklist 67: silence ends a task, and a later result is recorded without
// reopening it.
func TestSilence(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		// A short call may take a minute and says nothing meanwhile.
		slow := &counter{cap: "text.slow", block: make(chan struct{})}
		bob := w.node("bob", serving(slow), public(config.DefaultPublic("text.slow")))
		alice := w.node("alice", func(p *Parts) { p.NoResponseAfter = 30 * time.Second })
		got := w.call(alice, Order{Provider: bob.aid(), Capability: "text.slow"})
		wantOutcome(t, "the silent call", got, "failed UNVERIFIED no_response unknown")
		close(slow.block)
		synctest.Wait()
		late := w.wait(alice, got.ID, 0)
		wantOutcome(t, "the silent call, later", late, "failed UNVERIFIED no_response verified")
		if !late.LateResult || late.Deliverable == nil {
			t.Errorf("the late result was not recorded: %+v", late)
		}
	})
}

func TestLongCallSaysThatItWorks(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		long := &counter{cap: "job.run", limit: time.Hour, block: make(chan struct{})}
		bob, alice := w.node("bob", serving(long)), w.node("alice")
		w.allow(bob, alice)
		var first Task
		for i := range 5 {
			got, err := alice.StartTask(t.Context(), Order{Provider: bob.aid(), Capability: "job.run"})
			w.must(err)
			time.Sleep(2 * time.Second)
			got = w.wait(alice, got.ID, 0)
			if i == 0 {
				first = got
			}
			if want := "working -  unknown"; i < 4 && outcome(got) != want {
				t.Errorf("long call %d is %s, want %s", i+1, outcome(got), want)
			}
			if i == 4 {
				wantOutcome(t, "the fifth long call", got, "rejected UNAVAILABLE unavailable verified")
				if got.RetryAfterMS != 60_000 {
					t.Errorf("the fifth long call is to be tried after %d ms, want 60000", got.RetryAfterMS)
				}
			}
		}
		if left := len(w.hub.Mail(bob.aid())); left != 0 {
			t.Errorf("%d long calls are not acknowledged while they work, want 0", left)
		}
		close(long.block)
		wantOutcome(t, "the first long call", w.wait(alice, first.ID, time.Minute), "completed OK  verified")
	})
}

func TestFailingProviders(t *testing.T) {
	for _, tt := range []struct {
		name string
		out  provider.Outcome
		want string
	}{
		{"refused by the program", provider.Outcome{Status: effect.Failed, Reason: task.RefusedByService, Message: "no such lamp"}, "failed FAILED refused_by_service verified"},
		{"not reachable", provider.Unavailable(task.Unavailable, "socket missing"), "rejected UNAVAILABLE unavailable verified"},
		{"unavailable without a reason", provider.Outcome{Status: effect.Unavailable}, "rejected UNAVAILABLE unavailable verified"},
		{"lost on the way", provider.Unverified(task.ConnectionLost, ""), "completed UNVERIFIED connection_lost verified"},
		{"metrics that are no JSON", provider.Outcome{Status: effect.OK, Metrics: json.RawMessage(`{`)}, "completed UNVERIFIED bad_answer verified"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				bob := w.node("bob", serving(&counter{cap: "x", out: tt.out}), public(config.DefaultPublic("x")))
				alice := w.node("alice")
				wantOutcome(t, tt.name, w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), tt.want)
			})
		})
	}
}

func TestPanickingProvider(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		wild := &counter{cap: "x", after: func() { panic("no") }}
		bob := w.node("bob", serving(wild), public(config.DefaultPublic("x")))
		alice := w.node("alice")
		wantOutcome(t, "the call", w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), "completed UNVERIFIED backend_failed verified")
	})
}
