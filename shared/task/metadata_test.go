package task

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Checklist 31: ambiguous JSON of a peer is refused.
func TestParseMetadata(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"nothing", ``, true},
		{"an empty object", `{}`, true},
		{"blanks around", " \n{\"a\":1} ", true},
		{"a name twice", `{"anet.state":"working","anet.state":"completed"}`, false},
		{"names that differ in case", `{"amount":"1","AMOUNT":"2"}`, false},
		{"names equal under folding beyond ASCII", "{\"k\":1,\"\u212a\":2}", false},
		{"a name twice, deep", `{"x402.payment.required":{"accepts":[{"amount":"1","Amount":"2"}]}}`, false},
		{"a name twice, one escaped", `{"a":1,"\u0061":2}`, false},
		{"broken UTF-8", "{\"a\":\"\xff\"}", false},
		{"a lone surrogate", `{"a":"\ud800"}`, false},
		{"null", `null`, false},
		{"a list", `[]`, false},
		{"a text", `"a"`, false},
		{"blanks alone", ` `, false},
		{"two objects", `{}{}`, false},
		{"cut short", `{"a":1`, false},
		{"deep", strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200), false},
		{"huge", `{"a":"` + strings.Repeat("x", MaxMetadata) + `"}`, false},
	} {
		if _, err := ParseMetadata([]byte(tt.in)); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
}

func TestMetadataMembers(t *testing.T) {
	m := meta(t, `{"anet.state":"working","anet.final":true,"anet.reason":"timeout",
		"anet.retry_after_ms":1500,"big":"18446744073709551615","neg":-1,"half":1.5,"word":"x","yes":"true",
		"a2a.serviceParameters":{"A2A-Version":"1.0","a2a-extensions":["u1","u2"],"n":3,"null":null}}`)
	for _, tt := range []struct {
		name string
		got  any
		want any
	}{
		{"state", m.State(), Working},
		{"final", m.Flag(KeyFinal), true},
		{"a text is no flag", m.Flag("yes"), false},
		{"reason", m.Reason(), Timeout},
		{"retry after", m.RetryAfter(), 1500 * time.Millisecond},
		{"a number is no text", m.Text("anet.retry_after_ms"), ""},
		{"missing text", m.Text("none"), ""},
		{"payment", m.Pays(), false},
		{"payment by any x402 member", meta(t, `{"x402.other":1}`).Pays(), true},
		{"no parameters", len(meta(t, `{}`).ServiceParameters()), 0},
		{"no hint", meta(t, `{}`).RetryAfter(), time.Duration(0)},
		{"a hint of an age", meta(t, `{"anet.retry_after_ms":"18446744073709551615"}`).RetryAfter(), 24 * time.Hour},
		{"an error with its suffix", meta(t, `{"anet.a2aError":"TaskNotFoundError"}`).A2AError(), TaskNotFoundError},
		{"an error without it", meta(t, `{"anet.a2aError":"TaskNotFound"}`).A2AError(), TaskNotFoundError},
		{"no error", m.A2AError(), ""},
		{"A2A 1.0", m.SpeaksA2A(), true},
		{"no version of A2A", meta(t, `{}`).SpeaksA2A(), true},
		{"A2A 0.3", meta(t, `{"a2a.serviceParameters":{"a2a-VERSION":"0.3"}}`).SpeaksA2A(), false},
		{"A2A 10", meta(t, `{"a2a.serviceParameters":{"A2A-Version":"10.0"}}`).SpeaksA2A(), false},
		{"parameters", m.ServiceParameters(), map[string][]string{"a2a-version": {"1.0"}, "a2a-extensions": {"u1", "u2"}}},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if n, ok := m.Number("big"); !ok || n != 1<<64-1 {
		t.Errorf("a decimal string = %d, %v, want 2^64-1", n, ok)
	}
	for _, key := range []string{"neg", "half", "word", "none", "anet.final"} {
		if n, ok := m.Number(key); ok {
			t.Errorf("Number(%s) = %d, want none", key, n)
		}
	}
}

func TestMetadataIsWritten(t *testing.T) {
	var none Metadata
	if b, err := none.Bytes(); b != nil || err != nil {
		t.Errorf("no metadata = %q, %v, want no bytes", b, err)
	}
	one, err := none.With(KeyState, Working)
	if err != nil {
		t.Fatal(err)
	}
	two, err := one.With(KeyReason, "<a&b>")
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.Bytes()
	if want := `{"anet.reason":"<a&b>","anet.state":"working"}`; err != nil || string(b) != want {
		t.Errorf("Bytes = %s, %v, want %s", b, err, want)
	}
	if len(one) != 1 {
		t.Errorf("With changed what it was called on: %v", one)
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"a2a.serviceParameters":{"A2A-Version":"1.0"},"anet.retry_after_ms":5}`))
	f.Add([]byte(`{"anet.state":"working","anet.final":true,"a":{"A":[1,{"b":"2"}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseMetadata(raw)
		if err != nil {
			return
		}
		m.State()
		m.RetryAfter()
		m.ServiceParameters()
		b, err := m.Bytes()
		if err != nil {
			t.Fatalf("Bytes of %q: %v", raw, err)
		}
		again, err := ParseMetadata(b)
		if err != nil || len(again) != len(m) {
			t.Fatalf("%q is written as %q and read as %v, %v", raw, b, again, err)
		}
	})
}
