package service

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
)

func TestEveryAnswerOfAProgram(t *testing.T) {
	large := `{"x":"` + strings.Repeat("x", MaxAnswer) + `"}`
	tests := []struct {
		name   string
		answer http.HandlerFunc
		status effect.Status
		reason task.Reason
	}{
		{"an object", answering(200, `{"n":1}`), effect.OK, ""},
		{"an empty object", answering(200, `{}`), effect.OK, ""},
		{"the largest object", answering(200, large[:MaxAnswer-2]+`"}`), effect.OK, ""},
		{"too large", answering(200, large), effect.Unverified, task.BadAnswer},
		{"a list", answering(200, `[]`), effect.Unverified, task.BadAnswer},
		{"null", answering(200, `null`), effect.Unverified, task.BadAnswer},
		{"no JSON", answering(200, `<html>`), effect.Unverified, task.BadAnswer},
		{"nothing", answering(200, ``), effect.Unverified, task.BadAnswer},
		{"two objects", answering(200, `{}{}`), effect.Unverified, task.BadAnswer},
		{"duplicate names", answering(200, `{"a":1,"a":2}`), effect.Unverified, task.BadAnswer},
		{"not UTF-8", answering(200, "{\"a\":\"\xff\"}"), effect.Unverified, task.BadAnswer},
		{"deep", answering(200, `{"a":`+strings.Repeat("[", 20000)), effect.Unverified, task.BadAnswer},
		{"accepted for later", answering(202, `{}`), effect.Unverified, task.Accepted},
		{"created", answering(201, `{}`), effect.Unverified, task.BadAnswer},
		{"no content", answering(204, ``), effect.Unverified, task.BadAnswer},
		{"redirected", answering(307, ``, "Location", "http://127.0.0.1:1/"), effect.Unverified, task.BadAnswer},
		{"moved", answering(302, ``, "Location", "/elsewhere"), effect.Unverified, task.BadAnswer},
		{"too many", answering(429, ``), effect.Unavailable, task.Unavailable},
		{"busy", answering(503, ``), effect.Unavailable, task.Unavailable},
		{"refused", answering(400, `{"error":"no such thing"}`), effect.Failed, task.RefusedByService},
		{"forbidden", answering(403, ``), effect.Failed, task.RefusedByService},
		{"broken", answering(500, `{}`), effect.Unverified, task.ServiceError},
		{"bad gateway", answering(502, ``), effect.Unverified, task.ServiceError},
		{"a status of its own", answering(599, ``), effect.Unverified, task.ServiceError},
		{"cut off inside the answer", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"n":`)
			panic(http.ErrAbortHandler)
		}, effect.Unverified, task.ConnectionLost},
	}
	for _, tt := range tests {
		got := call(serving(t, programAt(t, tt.answer), nil), `{}`)
		if got.Status != tt.status || got.Reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s", tt.name, got.Status, got.Reason, tt.status, tt.reason)
		}
		if got.Verifiable {
			t.Errorf("%s: the program's word counts as verifiable", tt.name)
		}
	}
}

func TestWhatTheCallerIsTold(t *testing.T) {
	body := `{"bytes":5,"ratio":0.50,"huge":1e400,"text":"x","message":"done\u001b[2J","evidence":{
		"verify_trust":9,"auth_trust":9,"protocol":"cas","observed_state":"bafy","quirk":"q","native_ack":false,"requested":"b"}}`
	got := call(serving(t, programAt(t, answering(200, body)), nil), `{}`)
	e := got.Evidence
	e.LatencyMS = 0
	want := effect.Evidence{VerifyTrust: 1, Protocol: "cas", Requested: "a", ObservedState: "bafy", Quirk: "q"}
	if *e != want {
		t.Errorf("evidence = %+v, want %+v", *e, want)
	}
	if string(got.Metrics) != `{"bytes":5,"ratio":0.50}` {
		t.Errorf("metrics = %s", got.Metrics)
	}
	if got.Message != "done [2J" {
		t.Errorf("message = %q", got.Message)
	}
}

func TestEvidenceOfAProgramThatGivesNone(t *testing.T) {
	for _, body := range []string{`{"a":"b"}`, `{"evidence":null}`, `{"evidence":{"verify_trust":"4","native_ack":"yes","protocol":null}}`} {
		e := call(serving(t, programAt(t, answering(200, body)), nil), `{}`).Evidence
		e.LatencyMS = 0
		want := effect.Evidence{VerifyTrust: 1, Protocol: "http", Requested: "a", NativeAck: true, ObservedState: body}
		if *e != want {
			t.Errorf("answer %s: evidence = %+v, want %+v", body, *e, want)
		}
	}
	lowered := call(serving(t, programAt(t, answering(200, `{"evidence":{"verify_trust":0}}`)), nil), `{}`)
	if lowered.Evidence.VerifyTrust != 0 {
		t.Error("a program may not lower its trust")
	}
}

func TestRefusalsAreCutAndWaitsArePassedOn(t *testing.T) {
	long := strings.Repeat("é", 300)
	got := call(serving(t, programAt(t, answering(422, `{"error":"`+long+`"}`)), nil), `{}`)
	if got.Message != long[:2*MaxMessage] {
		t.Errorf("refusal of %d bytes, want %d", len(got.Message), 2*MaxMessage)
	}
	got = call(serving(t, programAt(t, answering(503, ``, "Retry-After", "7")), nil), `{}`)
	if got.RetryAfter != 7*time.Second {
		t.Errorf("retry after %v, want 7s", got.RetryAfter)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"n":1,"evidence":{"verify_trust":3},"message":"m"}`))
	f.Add([]byte(`{"evidence":[],"message":{},"n":-0.0}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		resp := &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(body)))}
		o := reply{id: "a", resp: resp, ctx: t.Context(), began: time.Now()}.outcome()
		switch {
		case o.Status == effect.OK && o.Evidence.VerifyTrust > 1:
			t.Errorf("trust raised to %d", o.Evidence.VerifyTrust)
		case o.Metrics != nil && !json.Valid(o.Metrics):
			t.Errorf("metrics %s", o.Metrics)
		}
	})
}
