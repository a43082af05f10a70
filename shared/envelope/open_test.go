package envelope

import (
	"bytes"
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

// Checklist 18 and 20: the signature covers every member as it came, is bound
// to the key it was sealed to, and leaves the padding out.
func TestInnerSignature(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	for _, tt := range []struct {
		name          string
		inner, signed func(members)
		as            func(*Outer)
		want          Reason
	}{
		{"as made", nil, nil, nil, ""},
		{"a longer head, signed so", func(m members) { m[keyKSN] = item{0x18, 0} }, nil, nil, ""},
		{"a longer head, put in later", nil, func(m members) { m[keyKSN] = item{0x18, 0} }, nil, BadSig},
		{"an extension of any form", func(m members) { m[99] = item{0xa2, 2, 1, 1, 0x18, 2} }, nil, nil, ""},
		{"an extension added", nil, func(m members) { m[99] = item{0xf5} }, nil, BadSig},
		{"an extension taken away", nil, func(m members) { delete(m, 64) }, nil, BadSig},
		{"an extension changed", nil, func(m members) { m[64] = item{0xf4} }, nil, BadSig},
		{"other padding", nil, func(m members) { m[keyPad] = bytesItem(make([]byte, 7)) }, nil, ""},
		{"another body", nil, func(m members) { m[keyBody] = bytesItem([]byte("hallo")) }, nil, BadSig},
		{"another type", nil, func(m members) { m[keyType] = textItem("anet.result/1") }, nil, BadSig},
		{"another end", nil, func(m members) { m[keyExp] = uintItem(ms(now) + 5) }, nil, BadSig},
		{"another key set", nil, func(m members) { m[keyKeys] = bytesItem([]byte{0x80}) }, nil, BadSig},
		{"sealed again to another key", nil, nil, func(o *Outer) { o.KID[0]++ }, BadSig},
		{"sealed again with another encapsulation", nil, nil, func(o *Outer) { o.Enc = make([]byte, 32) }, BadSig},
		{"sealed again in another suite", nil, nil, func(o *Outer) { o.Suite = 2 }, BadSig},
		{"no date", func(m members) { m[keyTS] = uintItem(0) }, nil, nil, BadSig},
		{"a key state there is not", func(m members) { m[keyKSN] = uintItem(1) }, nil, nil, BadKeyState},
		{"a key state beyond all", func(m members) { m[keyKSN] = uintItem(1<<64 - 1) }, nil, nil, BadKeyState},
		{"somebody else's name", func(m members) { m[keyFrom] = textItem("bob") }, nil, nil, FromMismatch},
	} {
		m, err := sealed{alice, bob, draft("bob"), tt.inner, tt.signed, tt.as}.open(t)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if err := m.VerifyInnerSig(alice.History(), now, DefaultGrace); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestReplay(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	for _, tt := range []struct {
		name string
		edit func(members)
		want Reason
	}{
		{"as made", nil, ""},
		{"no history", func(m members) { m[keyKEL] = bytesItem(nil) }, BadKEL},
		{"a broken history", func(m members) { m[keyKEL] = bytesItem([]byte{0x81, 1}) }, BadKEL},
		{"somebody else's history", func(m members) { m[keyKEL] = bytesItem(agent(t).KEL()) }, FromMismatch},
	} {
		m, err := sealed{alice: alice, bob: bob, draft: draft("bob"), inner: tt.edit}.open(t)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Replay(identity.Replay); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Checklist 22: rotation grace.
func TestRotation(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	next, err := alice.Rotate(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := alice.Deactivate(now)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := identity.Replay(ended)
	if err != nil {
		t.Fatal(err)
	}
	before, after := ms(now.Add(-time.Minute)), ms(now.Add(time.Minute))
	for _, tt := range []struct {
		name   string
		signer *identity.Controller
		ksn    uint64
		ts     uint64
		under  *identity.History
		at     time.Time
		want   Reason
	}{
		{"the old key, before", alice, 0, before, alice.History(), now, ""},
		{"the old key, under way at the rotation", alice, 0, before, next.History(), now.Add(time.Hour), ""},
		{"the old key, longer under way", alice, 0, before, next.History(), now.Add(time.Hour + time.Millisecond), RotationGraceExpired},
		{"the old key, by a slow clock", alice, 0, before, next.History(), now.Add(-time.Minute), ""},
		{"the old key, dated after", alice, 0, after, next.History(), now.Add(time.Minute), RevokedKey},
		{"the old key, dated at the rotation", alice, 0, ms(now), next.History(), now, RevokedKey},
		{"the new key", next, 1, after, next.History(), now.Add(30 * 24 * time.Hour), ""},
		{"the old key as the new one", alice, 1, after, next.History(), now.Add(time.Minute), BadSig},
		{"an agent that ended, before", alice, 0, before, gone, now.Add(time.Minute), ""},
		{"an agent that ended, after", alice, 0, after, gone, now.Add(time.Minute), RevokedKey},
		{"an agent that ended, under its last state", alice, 1, before, gone, now.Add(time.Minute), RevokedKey},
	} {
		d := draft("bob")
		d.TS = tt.ts
		m, err := sealed{alice: tt.signer, bob: bob, draft: d, inner: func(m members) { m[keyKSN] = uintItem(tt.ksn) }}.open(t)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.VerifyInnerSig(tt.under, tt.at, DefaultGrace); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Checklist 22: the order of the time checks.
func TestCheckTime(t *testing.T) {
	at, day, skew := ms(now), uint64(86_400_000), uint64(300_000)
	for _, tt := range []struct {
		name    string
		ts, exp uint64
		want    Reason
	}{
		{"as sent", at, at + 14*day, ""},
		{"at its end", at - day, at, ""},
		{"past its end", at - day, at - 1, Expired},
		{"the longest life", at, at + 15*day, ""},
		{"a longer life", at, at + 15*day + 1, BadLifetime},
		{"an end before the beginning", at, at - 1, BadLifetime},
		{"a life that would overflow", 1, 1<<64 - 1, BadLifetime},
		{"a little early", at + skew, at + day, ""},
		{"earlier", at + skew + 1, at + day, FromFuture},
		{"long ago and too long", 1, at - 1, BadLifetime},
		{"no time at all", 0, 0, Expired},
		{"the end of time", 1<<64 - 1, 1<<64 - 1, FromFuture},
	} {
		m := &Message{TS: tt.ts, Exp: tt.exp}
		if err := m.CheckTime(now); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestReasonOf(t *testing.T) {
	if len(Reasons()) != 25 {
		t.Errorf("%d reasons, want the 25 of section E.8", len(Reasons()))
	}
	for _, r := range Reasons() {
		if got := ReasonOf(r.Errorf("x")); got != r {
			t.Errorf("ReasonOf(%s) = %s", r, got)
		}
	}
	if got := ReasonOf(bytes.ErrTooLarge); got != InternalError {
		t.Errorf("ReasonOf(a stranger) = %s, want %s", got, InternalError)
	}
}
