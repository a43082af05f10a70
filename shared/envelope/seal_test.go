package envelope

import (
	"bytes"
	"maps"
	"testing"

	"github.com/anet-hub/anet/shared/identity"
)

func TestSealedMessageOpens(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	d := draft("bob")
	wire, err := Seal(alice, d, bob.key())
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(wire, "bob", bob)
	if err != nil {
		t.Fatal(err)
	}
	if m.From != alice.AID() || m.KSN != 0 || m.To != d.To || m.Type != d.Type || m.Ix != d.Ix || m.MID != d.MID ||
		m.TS != d.TS || m.Exp != d.Exp || !bytes.Equal(m.Body, d.Body) || !bytes.Equal(m.KEL, alice.KEL()) || !bytes.Equal(m.Keys, d.Keys) {
		t.Errorf("opened %+v, want %+v", m, d)
	}
	if e, ok := m.Extension(1000); !ok || !bytes.Equal(e, d.Extensions[1000]) {
		t.Errorf("extension = %x, %v, want %x", e, ok, d.Extensions[1000])
	}
	if _, ok := m.Extension(keySig); ok {
		t.Error("the signature passes for an extension")
	}
	h, err := m.Replay(identity.Replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.VerifyInnerSig(h, now, DefaultGrace); err != nil {
		t.Error(err)
	}
	if n := uint64(m.members.size()); Padme(n) != n {
		t.Errorf("the message inside is %d bytes, no Padmé length", n)
	}
}

func TestSealRefuses(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	for _, tt := range []struct {
		name string
		edit func(*Draft, *Key)
		want Reason
	}{
		{"no recipient", func(d *Draft, _ *Key) { d.To = "" }, InvalidInput},
		{"no type", func(d *Draft, _ *Key) { d.Type = "" }, InvalidInput},
		{"no text for a task", func(d *Draft, _ *Key) { d.Ix = "\xff" }, InvalidInput},
		{"no id", func(d *Draft, _ *Key) { d.MID = MID{} }, InvalidInput},
		{"no date", func(d *Draft, _ *Key) { d.TS = 0 }, InvalidInput},
		{"an end before the beginning", func(d *Draft, _ *Key) { d.Exp = d.TS - 1 }, InvalidInput},
		{"too long a life", func(d *Draft, _ *Key) { d.Exp = d.TS + uint64(MaxLifetime.Milliseconds()) + 1 }, InvalidInput},
		{"no key set", func(d *Draft, _ *Key) { d.Keys = nil }, InvalidInput},
		{"an extension with a key of the message", func(d *Draft, _ *Key) { d.Extensions = map[uint64][]byte{63: {0xf5}} }, InvalidInput},
		{"an extension that is no CBOR", func(d *Draft, _ *Key) { d.Extensions = map[uint64][]byte{64: {0xff}} }, InvalidInput},
		{"an extension of two items", func(d *Draft, _ *Key) { d.Extensions = map[uint64][]byte{64: {0, 0}} }, InvalidInput},
		{"a body above the cap", func(d *Draft, _ *Key) { d.Body = make([]byte, MaxBytes+1) }, InvalidInput},
		{"the reserved suite", func(_ *Draft, k *Key) { k.Suite = 2 }, UnknownSuite},
		{"a short key", func(_ *Draft, k *Key) { k.Pub = k.Pub[:31] }, NoUsableKey},
		{"a key nothing can be agreed with", func(_ *Draft, k *Key) { k.Pub = make([]byte, 32) }, NoUsableKey},
	} {
		d, k := draft("bob"), bob.key()
		tt.edit(&d, &k)
		if _, err := Seal(alice, d, k); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	wire, err := Seal(alice, draft("bob"), bob.key())
	if err != nil {
		t.Fatal(err)
	}
	edit := func(f func(members)) []byte {
		m, _ := parseMembers(wire)
		m = maps.Clone(m)
		f(m)
		return m.encode()
	}
	for _, tt := range []struct {
		name string
		wire []byte
		self string
		keys Keys
		want Reason
	}{
		{"as sealed", wire, "bob", bob, ""},
		{"at somebody else", wire, "carol", bob, WrongRecipient},
		{"without the key", wire, "bob", newKey(t), SealedToUnknownKey},
		{"with another key of that name", wire, "bob", oneKey{bob.kid, newKey(t).private}, DecryptFailed},
		{"addressed anew", edit(func(m members) { m[2] = textItem("carol") }), "carol", bob, DecryptFailed},
		{"cut", edit(func(m members) { m[6] = bytesItem([]byte{1, 2, 3}) }), "bob", bob, DecryptFailed},
		{"without a point", edit(func(m members) { m[5] = bytesItem(make([]byte, 32)) }), "bob", bob, DecryptFailed},
		{"no envelope", []byte("hello"), "bob", bob, BadOuter},
	} {
		if _, err := Open(tt.wire, tt.self, tt.keys); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
