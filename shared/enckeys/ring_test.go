package enckeys

import (
	"bytes"
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

func advance(t *testing.T, r Ring, now time.Time) (Ring, bool) {
	t.Helper()
	next, changed, err := r.Advance(now)
	if err != nil {
		t.Fatal(err)
	}
	return next, changed
}

// Checklist 16: a key a week, good for two, kept 15 days longer, then gone.
func TestRing(t *testing.T) {
	day := 24 * time.Hour
	r, changed := advance(t, Ring{}, now)
	if keys := r.Keys(now); !changed || len(keys) != 1 || keys[0].NotAfter != at(now.Add(14*day)) {
		t.Fatalf("a new ring publishes %+v", keys)
	}
	first := r.Keys(now)[0].KID
	for _, tt := range []struct {
		name              string
		after             time.Duration
		changed           bool
		published, stored int
		holdsFirst        bool
	}{
		{"a moment later", time.Millisecond, false, 1, 1, true},
		{"before a week is over", 7*day - time.Millisecond, false, 1, 1, true},
		{"after a week", 7 * day, true, 2, 2, true},
		{"at the end of the first", 14 * day, true, 2, 3, true},
		{"a week after", 21 * day, true, 2, 4, true},
		{"after four weeks", 28 * day, true, 2, 5, true},
		{"on the last day of the first", 29*day - time.Millisecond, false, 2, 5, true},
		{"when nothing can be under way any more", 29 * day, true, 2, 4, false},
		{"after a year asleep", 400 * day, true, 1, 1, false},
	} {
		due := r.Due()
		r, changed = advance(t, r, now.Add(tt.after))
		_, held := r.Private(first)
		if published := len(r.Keys(now.Add(tt.after))); changed != tt.changed || published != tt.published || len(r.keys) != tt.stored || held != tt.holdsFirst {
			t.Errorf("%s: changed %v, %d published, %d stored, first held %v, want %v, %d, %d, %v",
				tt.name, changed, published, len(r.keys), held, tt.changed, tt.published, tt.stored, tt.holdsFirst)
		}
		if came := !now.Add(tt.after).Before(due); came != tt.changed {
			t.Errorf("%s: it was due at %s, want it to come %v", tt.name, due.Sub(now), tt.changed)
		}
	}
}

func TestRingSurvivesAWrongClock(t *testing.T) {
	ahead, _ := advance(t, Ring{}, now.Add(365*24*time.Hour))
	r, changed := advance(t, ahead, now)
	if keys := r.Keys(now); !changed || len(keys) != 1 || keys[0].NotBefore != at(now) {
		t.Errorf("after a clock that was a year ahead %+v is published, want one key of now", keys)
	}
	alice := agent(t)
	_, set, err := r.Publish(alice, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(set, alice.AID(), alice.KEL(), identity.Replay, now); err != nil {
		t.Error(err)
	}
}

func TestPublish(t *testing.T) {
	alice := agent(t)
	r, _ := advance(t, Ring{}, now)
	r, first, err := r.Publish(alice, now)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(name string, c *identity.Controller, when time.Time, want Decision) {
		t.Helper()
		stored := r.last
		next, set, err := r.Publish(c, when)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Verify(set, c.AID(), c.KEL(), identity.Replay, when)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := Decide(stored, s); got != want {
			t.Errorf("%s: the hub would %s, want %s", name, got, want)
		}
		r = next
	}
	publish("again", alice, now.Add(time.Hour), Unchanged)
	rotated, err := alice.Rotate(rand.Reader, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	publish("after a rotation of the identity", rotated, now.Add(time.Hour), Resigned)
	r, _ = advance(t, r, now.Add(RotateEvery))
	publish("after a rotation of the keys", rotated, now.Add(RotateEvery), Replace)

	stored := *r.last
	r, set, err := r.Renew(rotated, now) // by a clock that went back
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := Parse(set); s.Set.Seq != stored.Set.Seq+1 {
		t.Errorf("sequence %d after %d, want one more", s.Set.Seq, stored.Set.Seq)
	}
	if s, _ := Parse(first); s.Set.Seq != at(now) {
		t.Errorf("first sequence %d, want the time", s.Set.Seq)
	}
	if _, _, err := (Ring{}).Publish(alice, now); envelope.ReasonOf(err) != envelope.NoUsableKey {
		t.Errorf("an empty ring publishes: %v", err)
	}
}

func TestRingIsStored(t *testing.T) {
	alice := agent(t)
	r, _ := advance(t, Ring{}, now)
	r, _ = advance(t, r, now.Add(RotateEvery))
	r, set, err := r.Publish(alice, now.Add(RotateEvery))
	if err != nil {
		t.Fatal(err)
	}
	blob, err := r.Blob()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadRing(blob)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := loaded.Blob(); err != nil || !bytes.Equal(again, blob) {
		t.Errorf("stored again it is %x, %v, want %x", again, err, blob)
	}
	if _, same, err := loaded.Publish(alice, now.Add(RotateEvery)); err != nil || !bytes.Equal(same, set) {
		t.Errorf("the loaded ring publishes another set: %v", err)
	}
	k, err := Choose(loaded.Keys(now.Add(RotateEvery)), now.Add(RotateEvery))
	if err != nil {
		t.Fatal(err)
	}
	d := envelope.Draft{To: alice.AID(), Type: "x", MID: envelope.NewMID(), TS: at(now), Exp: at(now), Keys: set}
	sealed, err := envelope.Seal(alice, d, k.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := envelope.Open(sealed, alice.AID(), loaded); err != nil {
		t.Errorf("the loaded ring does not open: %v", err)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "garbage": {1}, "a short key": {0xa1, 1, 0x81, 0xa1, 1, 0x41, 0}} {
		if _, err := LoadRing(bad); err == nil {
			t.Errorf("%s is loaded", name)
		}
	}
}
