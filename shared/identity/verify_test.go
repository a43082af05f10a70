package identity

import (
	"testing"
	"time"
)

func TestVerifyObject(t *testing.T) {
	first := newController(t, 1)
	rotatedAt, rotatedMS := after(time.Hour)
	second := rotate(t, first, rotatedAt)
	endedAt, endedMS := after(2 * time.Hour)
	kel, err := second.Deactivate(endedAt)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := Replay(kel)
	if err != nil {
		t.Fatal(err)
	}
	live, msg := second.History(), []byte("message")
	for _, tt := range []struct {
		name   string
		h      *History
		signer string
		seq    uint64
		at     uint64
		sig    []byte
		want   Code
	}{
		{"current key", live, first.AID(), 1, endedMS, second.Sign(msg), ""},
		{"nobody's history", nil, first.AID(), 0, 1, first.Sign(msg), UnknownAID},
		{"another signer", live, "b", 0, 1, first.Sign(msg), UnknownAID},
		{"beyond the history", live, first.AID(), 2, 1, second.Sign(msg), KeyStateDowngrade},
		{"beyond any history", live, first.AID(), 1 << 63, 1, second.Sign(msg), KeyStateDowngrade},
		{"bad signature before revoked key", live, first.AID(), 0, rotatedMS, second.Sign(msg), InvalidSignature},
		{"short signature", live, first.AID(), 1, 1, []byte{1}, InvalidSignature},
		{"no signature", live, first.AID(), 1, 1, nil, InvalidSignature},
		{"old key before its end", live, first.AID(), 0, rotatedMS - 1, first.Sign(msg), ""},
		{"old key at its end", live, first.AID(), 0, rotatedMS, first.Sign(msg), RevokedKey},
		{"old key without a time", live, first.AID(), 0, 0, first.Sign(msg), ""},
		{"ended agent without a time", ended, first.AID(), 2, 0, second.Sign(msg), RevokedKey},
		{"ended agent at any time", ended, first.AID(), 2, 1, second.Sign(msg), RevokedKey},
		{"key of the ended agent before its end", ended, first.AID(), 1, endedMS - 1, second.Sign(msg), ""},
	} {
		if got := CodeOf(VerifyObject(tt.h, tt.signer, tt.seq, tt.at, msg, tt.sig)); got != tt.want {
			t.Errorf("%s: code = %q, want %q", tt.name, got, tt.want)
		}
		if tt.h == nil {
			continue
		}
		// A history nobody replayed is asked for the signature first.
		want := tt.want
		if want == KeyStateDowngrade {
			want = InvalidSignature
		}
		got := CodeOf(VerifyCarried(tt.h.Raw(), Replay, tt.signer, tt.seq, tt.at, msg, tt.sig))
		if got != want {
			t.Errorf("%s: carried: code = %q, want %q", tt.name, got, want)
		}
	}
	if first, ok := live.CurrentFrom(); first != 1 || !ok {
		t.Errorf("CurrentFrom = %d, %v, want 1, true", first, ok)
	}
	if _, ok := ended.CurrentFrom(); ok || !ended.Deactivated() {
		t.Error("an ended agent has a current key")
	}
}

func TestPlausible(t *testing.T) {
	first := newController(t, 1)
	second := rotate(t, first, epoch)
	msg := []byte("message")
	for _, tt := range []struct {
		name string
		kel  []byte
		seq  uint64
		sig  []byte
		want bool
	}{
		{"first key", second.KEL(), 0, first.Sign(msg), true},
		{"second key", second.KEL(), 1, second.Sign(msg), true},
		{"wrong key", second.KEL(), 1, first.Sign(msg), false},
		{"beyond the end", second.KEL(), 2, second.Sign(msg), false},
		{"no history", nil, 0, first.Sign(msg), false},
	} {
		if got := Plausible(tt.kel, tt.seq, msg, tt.sig); got != tt.want {
			t.Errorf("%s: Plausible = %v, want %v", tt.name, got, tt.want)
		}
	}
}
