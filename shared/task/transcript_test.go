package task

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

func TestParseTranscript(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		turns    int
		ok       bool
	}{
		{"version two", `{"v":2,"nonce":"n","messages":[{"from":"provider","body":"x"}]}`, 1, true},
		{"members nobody knows", `{"v":2,"nonce":"n","messages":[],"lang":"de"}`, 0, true},
		{"the older list", `[{"from":"requester","body":"x"},{"from":"provider","body":"y"}]`, 2, true},
		{"the older list, empty", `[]`, 0, true},
		{"no list", `{"v":2,"nonce":"n"}`, 0, false},
		{"null for a list", `{"v":2,"nonce":"n","messages":null}`, 0, false},
		{"no version", `{"nonce":"n","messages":[]}`, 0, false},
		{"version one with a name", `{"v":1,"messages":[]}`, 0, false},
		{"null", `null`, 0, false},
		{"a third voice", `{"v":2,"nonce":"n","messages":[{"from":"system","body":"x"}]}`, 0, false},
		{"too many turns", `[` + strings.Repeat(`{},`, MaxTurns) + `{}]`, 0, false},
		{"too large", `{"v":2,"nonce":"` + strings.Repeat("n", MaxTranscript) + `","messages":[]}`, 0, false},
		{"a member twice", `{"v":2,"nonce":"n","messages":[],"messages":[]}`, 0, false},
		{"a member in two cases", `{"v":2,"nonce":"n","messages":[{"from":"provider","body":"x","Body":"y"}]}`, 0, false},
	} {
		got, err := ParseTranscript([]byte(tt.in))
		if (err == nil) != tt.ok || len(got.Messages) != tt.turns {
			t.Errorf("%s: %d turns, %v, want %d, accepted %v", tt.name, len(got.Messages), err, tt.turns, tt.ok)
		}
	}
}

// Checklist 32: the result of a text task has a nonce of its own.
func TestNewTranscript(t *testing.T) {
	a, b := NewTranscript(nil), NewTranscript(nil)
	if n, err := codec.DecodeB64u(a.Nonce); err != nil || len(n) != 16 || a.Nonce == b.Nonce {
		t.Errorf("nonces %q and %q, want 16 random bytes each", a.Nonce, b.Nonce)
	}
	raw, err := a.Bytes()
	if want := `{"v":2,"nonce":"` + a.Nonce + `","messages":[]}`; err != nil || string(raw) != want {
		t.Errorf("Bytes = %s, %v, want %s", raw, err, want)
	}
}

func TestConversation(t *testing.T) {
	for _, tt := range []struct {
		name, kind, meta string
		want             bool
	}{
		{"a text", KindText, ``, true},
		{"a text with parameters", KindText, `{"a2a.serviceParameters":{}}`, true},
		{"a payment", KindText, `{"x402.payment.status":"payment-submitted"}`, false},
		{"news of work", KindText, `{"anet.state":"working"}`, false},
		{"the last words", KindText, `{"anet.state":"working","anet.final":true}`, true},
		{"last words that pay", KindText, `{"anet.state":"working","anet.final":true,"x402.payment.status":"x"}`, false},
		{"a preview", KindStreamPreview, ``, false},
		{"the end asked for", KindEndRequest, ``, false},
	} {
		if got := Conversation(ChatMsg{Kind: tt.kind}, meta(t, tt.meta)); got != tt.want {
			t.Errorf("%s: Conversation = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte(`{"v":2,"nonce":"n","messages":[]}`))
	f.Add([]byte(`[{"from":"requester","body":"hi"}]`))
	f.Add([]byte(`{"v":2,"nonce":"n","messages":[{"from":"provider","body":"d","attachments":[{"name":"a","mime":"b","size":3,"cid":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tr, err := ParseTranscript(raw)
		if err != nil {
			return
		}
		b, err := tr.Bytes()
		if err != nil {
			t.Fatalf("Bytes of %q: %v", raw, err)
		}
		if again, err := ParseTranscript(b); err != nil || len(again.Messages) != len(tr.Messages) {
			t.Fatalf("%q is written as %q and read with %v", raw, b, err)
		}
	})
}
