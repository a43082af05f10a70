package enckeys

import (
	"crypto/rand"
	"math"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

var now = time.UnixMilli(1_767_225_600_000)

func agent(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// key makes a key of so many bytes, named rightly.
func key(suite uint8, n int, from, until time.Time) Key {
	pub := make([]byte, n)
	rand.Read(pub)
	return Key{NewKID(suite, pub), uint64(suite), pub, at(from), at(until)}
}

func set(aid string, keys ...Key) Set {
	return Set{Type: setType, AID: aid, Seq: at(now), Keys: keys, IssuedAt: at(now)}
}

func sign(t testing.TB, c *identity.Controller, s Set) Signed {
	t.Helper()
	b, err := codec.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return Signed{Set: s, Bytes: b, KSN: c.Seq(), Sig: c.Sign(b)}
}

func wire(t testing.TB, s Signed) []byte {
	t.Helper()
	b, err := s.Wire()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Checklist 14: canonical bytes, key ids, order, lifetimes, one to four keys.
func TestStructure(t *testing.T) {
	alice := agent(t)
	day := 24 * time.Hour
	valid := func() Key { return key(1, 32, now, now.Add(14*day)) }
	k := valid()
	for _, tt := range []struct {
		name string
		edit func(*Set)
		want envelope.Reason
	}{
		{"as made", func(*Set) {}, ""},
		{"four keys", func(s *Set) { s.Keys = []Key{valid(), valid(), valid(), valid()} }, ""},
		{"a key of a suite to come", func(s *Set) { s.Keys = append(s.Keys, key(255, 1184, now, now.Add(day))) }, ""},
		{"the longest life", func(s *Set) { s.Keys[0].NotAfter = s.Keys[0].NotBefore + ms(30*day) }, ""},
		{"the largest number", func(s *Set) { s.Seq = math.MaxInt64 }, ""},
		{"no key", func(s *Set) { s.Keys = []Key{} }, envelope.BadKeySet},
		{"five keys", func(s *Set) { s.Keys = []Key{valid(), valid(), valid(), valid(), valid()} }, envelope.BadKeySet},
		{"another type", func(s *Set) { s.Type = "anet.enckeys/2" }, envelope.BadKeySet},
		{"a number beyond a database", func(s *Set) { s.Seq = math.MaxInt64 + 1 }, envelope.BadKeySet},
		{"another key's id", func(s *Set) { s.Keys[0].KID[0]++ }, envelope.BadKeySet},
		{"another suite's id", func(s *Set) { s.Keys[0].Suite = 3 }, envelope.BadKeySet},
		{"suite zero", func(s *Set) { s.Keys[0] = key(0, 32, now, now.Add(day)) }, envelope.BadKeySet},
		{"suite 256", func(s *Set) { s.Keys[0].Suite = 256 }, envelope.BadKeySet},
		{"a short key", func(s *Set) { s.Keys[0] = key(1, 31, now, now.Add(day)) }, envelope.BadKeySet},
		{"an empty key", func(s *Set) { s.Keys[0] = key(9, 0, now, now.Add(day)) }, envelope.BadKeySet},
		{"one key twice", func(s *Set) { s.Keys = []Key{k, k} }, envelope.BadKeySet},
		{"keys out of order", func(s *Set) { s.Keys = []Key{valid(), key(1, 32, now.Add(-time.Second), now.Add(day))} }, envelope.BadKeySet},
		{"keys of one moment", func(s *Set) { s.Keys = []Key{valid(), valid()} }, ""},
		{"too long a life", func(s *Set) { s.Keys[0].NotAfter = s.Keys[0].NotBefore + ms(30*day) + 1 }, envelope.BadKeySet},
		{"no life", func(s *Set) { s.Keys[0].NotAfter = s.Keys[0].NotBefore }, envelope.BadKeySet},
		{"an end before the beginning", func(s *Set) { s.Keys[0].NotAfter = 1 }, envelope.BadKeySet},
		{"keys of the past", func(s *Set) { s.Keys = []Key{key(1, 32, now.Add(-day), now)} }, envelope.BadKeySet},
		{"keys of the future", func(s *Set) { s.Keys = []Key{key(1, 32, now.Add(6*time.Minute), now.Add(day))} }, envelope.BadKeySet},
	} {
		s := set(alice.AID(), valid())
		tt.edit(&s)
		_, err := Verify(wire(t, sign(t, alice, s)), alice.AID(), alice.KEL(), identity.Replay, now)
		if envelope.ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSetBytesAreCanonical(t *testing.T) {
	alice := agent(t)
	good := sign(t, alice, set(alice.AID(), key(1, 32, now, now.Add(time.Hour))))
	longer := append([]byte{0xb8, 5}, good.Bytes[1:]...)
	more := append([]byte{0xa6}, append(good.Bytes[1:len(good.Bytes):len(good.Bytes)], 5, 0)...)
	for name, b := range map[string][]byte{
		"a longer head": longer, "a member nobody knows": more, "bytes behind": append(good.Bytes, 0),
		"null": {0xf6}, "nothing": nil, "an empty map": {0xa0},
	} {
		s := Signed{Bytes: b, Sig: alice.Sign(b)}
		if _, err := Parse(wire(t, s)); envelope.ReasonOf(err) != envelope.BadKeySet {
			t.Errorf("%s: %v, want %s", name, err, envelope.BadKeySet)
		}
	}
	for name, b := range map[string][]byte{"nothing": nil, "null": {0xf6}, "a text": {0x60}, "huge": make([]byte, MaxBytes+1)} {
		if _, err := Parse(b); envelope.ReasonOf(err) != envelope.BadKeySet {
			t.Errorf("signed: %s: %v, want %s", name, err, envelope.BadKeySet)
		}
	}
}

// Checklist 15: the expected AID, the present key state, and the order of D.2.
func TestVerifyOrder(t *testing.T) {
	alice, bob := agent(t), agent(t)
	next, err := alice.Rotate(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := alice.Deactivate(now)
	if err != nil {
		t.Fatal(err)
	}
	k := key(1, 32, now, now.Add(time.Hour))
	good := sign(t, alice, set(alice.AID(), k))
	for _, tt := range []struct {
		name   string
		edit   func(*Signed)
		expect string
		kel    []byte
		want   envelope.Reason
	}{
		{"as made", nil, alice.AID(), alice.KEL(), ""},
		{"no history", nil, alice.AID(), nil, envelope.BadKEL},
		{"somebody else's history", nil, alice.AID(), bob.KEL(), envelope.AIDMismatch},
		{"the right set of the wrong agent", nil, bob.AID(), alice.KEL(), envelope.AIDMismatch},
		{"a set of the wrong agent", func(s *Signed) { *s = sign(t, bob, set(bob.AID(), k)) }, alice.AID(), alice.KEL(), envelope.AIDMismatch},
		{"the agent before the signature", func(s *Signed) { s.Sig = nil }, bob.AID(), alice.KEL(), envelope.AIDMismatch},
		{"a short signature", func(s *Signed) { s.Sig = s.Sig[:63] }, alice.AID(), alice.KEL(), envelope.BadSig},
		{"a short signature before the key state", func(s *Signed) { s.Sig, s.KSN = nil, 9 }, alice.AID(), alice.KEL(), envelope.BadSig},
		{"a key state there is not", func(s *Signed) { s.KSN = 1 }, alice.AID(), alice.KEL(), envelope.BadKeyState},
		{"the key state before the end of the agent", func(s *Signed) { s.KSN = 2 }, alice.AID(), ended, envelope.BadKeyState},
		{"an agent that ended", nil, alice.AID(), ended, envelope.RevokedKey},
		{"a retired key, without grace", nil, alice.AID(), next.KEL(), envelope.BadKeyState},
		{"the key state before the signature", func(s *Signed) { s.Sig = make([]byte, 64) }, alice.AID(), next.KEL(), envelope.BadKeyState},
		{"the new key", func(s *Signed) { *s = sign(t, next, s.Set) }, alice.AID(), next.KEL(), ""},
		{"another signature", func(s *Signed) { s.Sig = bob.Sign(s.Bytes) }, alice.AID(), alice.KEL(), envelope.BadSig},
		{"the signature before the structure", func(s *Signed) { *s = sign(t, bob, set(alice.AID())) }, alice.AID(), alice.KEL(), envelope.BadSig},
	} {
		s := good
		if tt.edit != nil {
			tt.edit(&s)
		}
		if _, err := Verify(wire(t, s), tt.expect, tt.kel, identity.Replay, now); envelope.ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Checklist 15: the four cases of the high-water mark.
func TestDecide(t *testing.T) {
	alice := agent(t)
	next, err := alice.Rotate(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	stored := sign(t, alice, set(alice.AID(), key(1, 32, now, now.Add(time.Hour))))
	with := func(edit func(*Set)) Signed {
		s := stored.Set
		edit(&s)
		return sign(t, alice, s)
	}
	for _, tt := range []struct {
		name     string
		stored   *Signed
		incoming Signed
		want     Decision
	}{
		{"the first", nil, stored, Replace},
		{"a newer one", &stored, with(func(s *Set) { s.Seq++ }), Replace},
		{"the same", &stored, stored, Unchanged},
		{"the same after a rotation", &stored, sign(t, next, stored.Set), Resigned},
		{"another one of that number", &stored, with(func(s *Set) { s.IssuedAt++ }), Fork},
		{"an older one", &stored, with(func(s *Set) { s.Seq-- }), Rollback},
	} {
		if got := Decide(tt.stored, tt.incoming); got != tt.want {
			t.Errorf("%s: Decide = %s, want %s", tt.name, got, tt.want)
		}
	}
	if !Replace.Stores() || !Resigned.Stores() || Unchanged.Stores() || !Fork.Refused() || !Rollback.Refused() || Unchanged.Refused() {
		t.Error("the decisions do not say what to do")
	}
}

// Checklist 16: the choice of a key.
func TestChoose(t *testing.T) {
	span := func(from, until time.Duration) Key { return key(1, 32, now.Add(from), now.Add(until)) }
	old, fresh := span(-8*24*time.Hour, time.Hour), span(-time.Hour, time.Hour)
	twin := key(1, 32, now.Add(-time.Hour), now.Add(time.Hour))
	soon, later := span(4*time.Minute, time.Hour), span(5*time.Minute, time.Hour)
	for _, tt := range []struct {
		name string
		keys []Key
		want *Key
	}{
		{"the newest", []Key{old, fresh}, &fresh},
		{"of two of one moment the later entry", []Key{old, fresh, twin}, &twin},
		{"not one to come while one is valid", []Key{old, soon}, &old},
		{"the soonest when none is", []Key{soon, later}, &soon},
		{"within five minutes", []Key{later}, &later},
		{"not beyond", []Key{span(5*time.Minute+time.Millisecond, time.Hour)}, nil},
		{"not one that ends now", []Key{span(-time.Hour, 0)}, nil},
		{"one that ends in a moment", []Key{span(-time.Hour, time.Millisecond)}, &Key{}},
		{"no suite this program does not know", []Key{key(2, 1216, now, now.Add(time.Hour))}, nil},
		{"none", nil, nil},
	} {
		got, err := Choose(tt.keys, now)
		if tt.want == nil {
			if envelope.ReasonOf(err) != envelope.NoUsableKey {
				t.Errorf("%s: %v, want %s", tt.name, err, envelope.NoUsableKey)
			}
			continue
		}
		if err != nil || tt.want.Suite != 0 && got.KID != tt.want.KID {
			t.Errorf("%s: %s, %v, want %s", tt.name, got.KID, err, tt.want.KID)
		}
	}
}
