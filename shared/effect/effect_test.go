package effect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/task"
)

// Checklist 33: the table of statuses and states; an unknown one is UNVERIFIED.
func TestState(t *testing.T) {
	for _, tt := range []struct {
		word       string
		free, paid task.State
		again      bool // a second call is harmless
	}{
		{"OK", task.Completed, task.Completed, false},
		{"UNVERIFIED", task.Completed, task.Completed, false},
		{"FAILED", task.Failed, task.Failed, true},
		{"UNAVAILABLE", task.Rejected, task.Failed, true},
		{"PAYMENT_REQUIRED", task.InputRequired, task.InputRequired, true},
		{"DONE", task.Completed, task.Completed, false},
		{"ok", task.Completed, task.Completed, false},
		{"", task.Completed, task.Completed, false},
	} {
		s := Status(tt.word)
		if free, paid := s.State(false), s.State(true); free != tt.free || paid != tt.paid {
			t.Errorf("%q: states %s and %s when paid, want %s and %s", tt.word, free, paid, tt.free, tt.paid)
		}
		if s.MayHaveHappened() == tt.again {
			t.Errorf("%q: MayHaveHappened = %v, want %v", tt.word, !tt.again, !tt.again)
		}
	}
	if got := Read("DONE"); got != Unverified {
		t.Errorf("Read(DONE) = %s, want %s", got, Unverified)
	}
}

// Checklist 32: every result has a nonce.
func TestDeliverable(t *testing.T) {
	d := New("text.digest", OK)
	d.Verifiable = true
	d.Metrics = json.RawMessage(`{"bytes":5}`)
	d.Message = "<done>"
	d.Evidence = &Evidence{VerifyTrust: 4, Protocol: "cas", NativeAck: true}
	raw, err := d.Bytes()
	want := `{"capability":"text.digest","status":"OK","nonce":"` + d.Nonce + `","verifiable":true,"metrics":{"bytes":5},"message":"<done>",` +
		`"evidence":{"auth_trust":0,"verify_trust":4,"protocol":"cas","native_ack":true}}`
	if err != nil || string(raw) != want {
		t.Errorf("Bytes = %s, %v, want %s", raw, err, want)
	}
	if n, err := codec.DecodeB64u(d.Nonce); err != nil || len(n) != 16 || New("x", OK).Nonce == d.Nonce {
		t.Errorf("nonce %q, want 16 random bytes", d.Nonce)
	}
	read, err := Parse(raw)
	if err != nil || read.Evidence == nil || *read.Evidence != *d.Evidence || read.Status != OK {
		t.Errorf("Parse = %+v, %v, want %+v", read, err, d)
	}
	d.Metrics = json.RawMessage(`{`)
	if _, err := d.Bytes(); err == nil {
		t.Error("metrics that are no JSON are written")
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Status
		ok       bool
	}{
		{"a result of another program", `{"capability":"x","status":"FAILED","verifiable":false,"message":"m","more":1}`, Failed, true},
		{"without a nonce", `{"capability":"x","status":"OK"}`, OK, true},
		{"a status nobody knows", `{"capability":"x","status":"MAYBE"}`, Unverified, true},
		{"no status", `{}`, Unverified, true},
		{"two statuses", `{"status":"FAILED","status":"OK"}`, "", false},
		{"two statuses in two cases", `{"status":"FAILED","Status":"OK"}`, "", false},
		{"null", `null`, "", false},
		{"a list", `[]`, "", false},
		{"text", `done`, "", false},
		{"nothing", ``, "", false},
		{"too large", `{"message":"` + strings.Repeat("x", MaxDeliverable) + `"}`, "", false},
	} {
		d, err := Parse([]byte(tt.in))
		if (err == nil) != tt.ok || tt.ok && d.Status != tt.want {
			t.Errorf("%s: status %s, %v, want %s, accepted %v", tt.name, d.Status, err, tt.want, tt.ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"capability":"x","status":"OK","nonce":"AAECAwQFBgcICQoLDA0ODw","verifiable":true,"evidence":{"verify_trust":1}}`))
	f.Add([]byte(`{"status":"UNAVAILABLE","paid":{"transaction":"t","amount":"1","network":"n"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		b, err := d.Bytes()
		if err != nil {
			t.Fatalf("Bytes of %q: %v", raw, err)
		}
		if again, err := Parse(b); err != nil || again.Status != d.Status {
			t.Fatalf("%q is written as %q and read with %v", raw, b, err)
		}
	})
}
