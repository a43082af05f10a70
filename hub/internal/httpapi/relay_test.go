package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

func TestMailGoesRound(t *testing.T) {
	alice, bob := newController(t), newController(t)
	p := newPost(t, pgtest.URL(t), newController(t), alice, bob)
	if status, answer := p.ask(bob, "poll", ""); status != 200 || answer != `{"messages":[]}` {
		t.Errorf("an empty poll: %d %s", status, answer)
	}
	env := envelopeFor(bob, 100)
	sent := p.send(alice, bob, env)
	if sent.Status != "queued" || sent.ID <= 0 {
		t.Errorf("sent: %+v", sent)
	}
	got := p.poll(bob, `{"limit":10,"after_id":0,"wait_ms":0}`)
	if len(got.Messages) != 1 || got.Messages[0].ID != sent.ID || !bytes.Equal(got.Messages[0].Envelope, env) {
		t.Fatalf("polled: %+v", got)
	}
	if got.WaitMS == nil || *got.WaitMS != 0 {
		t.Error("wait_ms is not echoed")
	}
	ids, _ := json.Marshal(wire.Ack{IDs: []int64{sent.ID, 99}})
	if status, answer := p.ask(alice, "ack", string(ids)); status != 200 || answer != `{"acked":0}` {
		t.Errorf("alice acknowledges bob's mail: %d %s", status, answer)
	}
	if status, answer := p.ask(bob, "ack", string(ids)); status != 200 || answer != `{"acked":1}` {
		t.Errorf("ack: %d %s", status, answer)
	}
	if got := p.poll(bob, ""); len(got.Messages) != 0 {
		t.Errorf("after the ack %d messages are left", len(got.Messages))
	}
}

func TestMailRefusals(t *testing.T) {
	alice, bob := newController(t), newController(t)
	p := newPost(t, pgtest.URL(t), newController(t), alice, bob)
	send := func(to string, env []byte) string {
		b, _ := json.Marshal(wire.Send{ToAID: to, Envelope: env})
		return string(b)
	}
	tests := []struct {
		name, action, body string
		status             int
		code               string
	}{
		{"a send without a body", "send", "", 400, "malformed_json"},
		{"a send without a recipient", "send", send("", envelopeFor(bob, 1)), 400, "missing_field"},
		{"a send without an envelope", "send", `{"to_aid":"` + bob.AID() + `"}`, 400, "missing_field"},
		{"base64 of the other alphabet", "send", `{"to_aid":"` + bob.AID() + `","envelope":"-_-_"}`, 400, "malformed_json"},
		{"a recipient twice", "send", `{"to_aid":"a","to_aid":"b","envelope":"AA=="}`, 400, "malformed_json"},
		{"no envelope inside", "send", send(bob.AID(), []byte{0xa0}), 400, "bad_envelope"},
		{"sealed to another", "send", send(bob.AID(), envelopeFor(alice, 1)), 400, "recipient_mismatch"},
		{"nobody's mailbox", "send", send(p.hub.AID(), envelopeFor(p.hub, 1)), 404, "unknown_recipient"},
		{"an envelope over the limit", "send", send(bob.AID(), envelopeFor(bob, 4<<20)), 413, "envelope_too_large"},
		{"a body over the route's cap", "send", strings.Repeat(" ", 6<<20), 413, "body_too_large"},
		{"a cursor below zero", "poll", `{"after_id":-1}`, 400, "bad_after_id"},
		{"a cursor that is no number", "poll", `{"after_id":"1"}`, 400, "malformed_json"},
		{"a wait below zero", "poll", `{"wait_ms":-1}`, 400, "bad_wait_ms"},
		{"half a millisecond", "poll", `{"wait_ms":0.5}`, 400, "bad_wait_ms"},
		{"a wait in words", "poll", `{"wait_ms":"1000"}`, 400, "bad_wait_ms"},
		{"an ack without a body", "ack", "", 400, "malformed_json"},
		{"ids that are no numbers", "ack", `{"ids":["1"]}`, 400, "malformed_json"},
		{"ids beyond all numbers", "ack", `{"ids":[99999999999999999999]}`, 400, "malformed_json"},
		{"an ack over the route's cap", "ack", `{"ids":[` + strings.Repeat("1,", 1<<19) + `1]}`, 413, "body_too_large"},
	}
	for _, tt := range tests {
		status, answer := p.ask(alice, tt.action, tt.body)
		if code := read[map[string]any](t, answer)["code"]; status != tt.status || code != tt.code {
			t.Errorf("%s: %d %.200s, want %d %s", tt.name, status, answer, tt.status, tt.code)
		}
	}
}

func TestWaitMS(t *testing.T) {
	tests := []struct {
		in   string
		want int64
	}{
		{"0", 0}, {"-0", 0}, {"1", 1}, {"1e3", 1000}, {"55000", 55000}, {"55001", 55000}, {"1e400", 55000},
		{"99999999999999999999999", 55000},
	}
	for _, tt := range tests {
		if got, err := waitMS(tt.in); got != tt.want || err != nil {
			t.Errorf("waitMS(%s) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
}

// Checklist 10: a request is good for one use.
func TestMailRequestTwice(t *testing.T) {
	alice, bob := newController(t), newController(t)
	p := newPost(t, pgtest.URL(t), newController(t), alice, bob)
	body, _ := json.Marshal(wire.Send{ToAID: bob.AID(), Envelope: envelopeFor(bob, 1)})
	for action, body := range map[string]string{"send": string(body), "poll": "", "ack": `{"ids":[]}`} {
		first := p.request(alice, action, body)
		again := first.Clone(t.Context())
		again.Body = io.NopCloser(strings.NewReader(body))
		if status, answer := p.do(first); status != 200 {
			t.Errorf("%s: %d %s", action, status, answer)
		}
		if status, answer := p.do(again); status != 401 || read[wire.Problem](t, answer).Code != "replayed" {
			t.Errorf("%s again: %d %s", action, status, answer)
		}
	}
	if got := p.poll(bob, ""); len(got.Messages) != 1 {
		t.Errorf("%d messages, want 1", len(got.Messages))
	}
}

// Each process remembers the histories of who signs. What another process
// learns of a signer counts at once all the same.
func TestWhatAnotherProcessLearnsOfASigner(t *testing.T) {
	url, hub, alice := pgtest.URL(t), newController(t), newController(t)
	one, two := newPost(t, url, hub, alice), newPost(t, url, hub, alice)
	expect := func(what string, as *identity.Controller, action string, status int, code string) {
		t.Helper()
		body := map[string]string{"send": string(must(json.Marshal(wire.Send{ToAID: alice.AID(), Envelope: envelopeFor(alice, 1)})))}[action]
		got, answer := one.ask(as, action, cmp.Or(body, `{"ids":[]}`))
		if got != status || code != "" && read[wire.Problem](t, answer).Code != code {
			t.Errorf("%s: %s: %d %s, want %d %s", what, action, got, answer, status, code)
		}
	}
	actions := []string{"send", "poll", "ack"}
	for _, action := range actions {
		expect("as registered", alice, action, 200, "")
	}
	rotated := testkit.Rotated(t, alice, time.Now())
	two.enroll(rotated)
	for _, action := range actions {
		expect("the key before a rotation elsewhere", alice, action, 401, "bad_signature")
	}
	again := testkit.Rotated(t, rotated, time.Now())
	two.enroll(again)
	for _, action := range actions {
		expect("the key after a rotation elsewhere", again, action, 200, "")
	}
	two.exec(`DELETE FROM agent WHERE aid = $1`, alice.AID())
	for _, action := range actions {
		expect("after a departure elsewhere", again, action, 401, "unknown_signer")
	}
	two.enroll(again)
	expect("back again", again, "poll", 200, "")
}

// Two processes on one database: a poll waiting at one is ended by a send at
// the other, and the end of a process ends its polls with an empty answer.
func TestLongPollAcrossProcesses(t *testing.T) {
	url, hub, alice, bob := pgtest.URL(t), newController(t), newController(t), newController(t)
	one, two := newPost(t, url, hub, alice, bob), newPost(t, url, hub, alice, bob)
	answers := make(chan wire.Polled, 1)
	wait := func() {
		go func() { answers <- two.poll(bob, `{"wait_ms":55000}`) }()
		testkit.Until(t, "the poll waits", func() bool { return two.board.Waiting() == 1 })
	}
	wait()
	sent := one.send(alice, bob, envelopeFor(bob, 1))
	if got := <-answers; len(got.Messages) != 1 || got.Messages[0].ID != sent.ID {
		t.Errorf("%d messages", len(got.Messages))
	}
	two.ask(bob, "ack", `{"ids":[`+string(must(json.Marshal(sent.ID)))+`]}`)
	wait()
	two.board.Close()
	if got := <-answers; got.Messages == nil || len(got.Messages) != 0 || got.WaitMS == nil || *got.WaitMS != 55000 {
		t.Errorf("the end of a process answers %+v, want an empty page that echoes the wait", got)
	}
}

// Large envelopes come whole, one page each where they fill the budget.
func TestLargePages(t *testing.T) {
	alice, bob := newController(t), newController(t)
	p := newPost(t, pgtest.URL(t), newController(t), alice, bob)
	large, small := envelopeFor(bob, 4<<20-200), envelopeFor(bob, 10)
	p.send(alice, bob, large)
	p.send(alice, bob, small)
	p.send(alice, bob, large[:len(large):len(large)])
	var cursor int64
	for i, want := range [][]byte{large, small, large} {
		got := p.poll(bob, `{"after_id":`+string(must(json.Marshal(cursor)))+`}`)
		if len(got.Messages) != 1 || !bytes.Equal(got.Messages[0].Envelope, want) {
			t.Fatalf("page %d: %d messages", i, len(got.Messages))
		}
		cursor = got.Messages[0].ID
	}
}

func TestMailboxFullOverHTTP(t *testing.T) {
	alice, bob, on := newController(t), newController(t), usual()
	on.Messages = 3
	p := newPostOn(t, on, pgtest.URL(t), newController(t), alice, bob)
	for range 3 {
		p.send(alice, bob, envelopeFor(bob, 1))
	}
	body := must(json.Marshal(wire.Send{ToAID: bob.AID(), Envelope: envelopeFor(bob, 1)}))
	if status, answer := p.ask(alice, "send", string(body)); status != 507 || read[wire.Problem](t, answer).Code != "mailbox_full" {
		t.Errorf("a full mailbox: %d %s", status, answer)
	}
	if got := p.poll(bob, ""); len(got.Messages) != 3 {
		t.Errorf("%d messages are left of 3 that were accepted", len(got.Messages))
	}
}

// A sender without tokens is told so before its signature is looked at.
func TestEmptyBucketComesFirst(t *testing.T) {
	alice, bob, on := newController(t), newController(t), usual()
	on.perMinute, on.burst = 0.01, 1
	p := newPostOn(t, on, pgtest.URL(t), newController(t), alice, bob)
	forged := func() int {
		r := p.request(alice, "send", "{}")
		r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
		status, _ := p.do(r)
		return status
	}
	if status := forged(); status != 401 {
		t.Errorf("a forged send before: %d, want 401", status)
	}
	p.send(alice, bob, envelopeFor(bob, 1)) // and the forged one took no token
	if status := forged(); status != 429 {
		t.Errorf("a forged send at an empty bucket: %d, want 429", status)
	}
}
