package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
)

var epoch = time.UnixMilli(1_767_225_600_000)

func after(d time.Duration) (time.Time, uint64) {
	t := epoch.Add(d)
	return t, uint64(t.UnixMilli())
}

func newController(t testing.TB, seed byte) *Controller {
	t.Helper()
	c, err := NewController(rand.NewChaCha8([32]byte{seed}), epoch)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rotate(t testing.TB, c *Controller, at time.Time) *Controller {
	t.Helper()
	next, err := c.Rotate(rand.NewChaCha8([32]byte{99}), at)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// forge appends an event to a history, signed with key as it is.
func forge(t testing.TB, kel []byte, key ed25519.PrivateKey, e event) []byte {
	t.Helper()
	preimage, err := e.preimage()
	if err != nil {
		t.Fatal(err)
	}
	out, err := appendEvent(kel, signedEvent{e, ed25519.Sign(key, preimage), "not trusted"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReplayRefuses(t *testing.T) {
	c := newController(t, 1)
	stranger := newController(t, 2)
	next := event{AID: c.AID(), Seq: 1, Prev: c.history.prev, Type: interact, Threshold: 1}
	with := func(change func(*event)) event { e := next; change(&e); return e }
	for _, tt := range []struct {
		name string
		key  ed25519.PrivateKey
		e    event
		ok   bool
	}{
		{"an interaction", c.current, next, true},
		{"a stranger's signature", stranger.current, next, false},
		{"another agent", c.current, with(func(e *event) { e.AID = stranger.AID() }), false},
		{"a gap in seq", c.current, with(func(e *event) { e.Seq = 2 }), false},
		{"another predecessor", c.current, with(func(e *event) { e.Prev = stranger.history.prev }), false},
		{"an unknown type", c.current, with(func(e *event) { e.Type = "xyz" }), false},
		{"a second inception", c.current, with(func(e *event) { e.Type = inception; e.Keys = keysOf(c.current) }), false},
		{"a rotation to the committed key", c.current, with(func(e *event) { e.Type = rotation; e.Keys = keysOf(c.next) }), true},
		{"a rotation signed by the new key", c.next, with(func(e *event) { e.Type = rotation; e.Keys = keysOf(c.next) }), false},
		{"a rotation to another key", c.current, with(func(e *event) { e.Type = rotation; e.Keys = keysOf(stranger.next) }), false},
		{"a delegation of two keys", c.current, with(func(e *event) { e.Type = delegate; e.Keys = [][]byte{{1}, {2}} }), false},
		{"a delegation of a short key", c.current, with(func(e *event) { e.Type = delegate; e.Keys = [][]byte{{1}} }), true},
	} {
		if _, err := Replay(forge(t, c.KEL(), tt.key, tt.e)); (err == nil) != tt.ok {
			t.Errorf("%s: error = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestReplayBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		kel  []byte
	}{
		{"empty", nil},
		{"no events", []byte{0x80}},
		{"too many bytes", make([]byte, MaxKELBytes+1)},
		{"too many events", append([]byte{0x99, 0x01, 0x01}, bytes.Repeat([]byte{0xa0}, 257)...)},
		{"an announced giant", []byte{0x9a, 0xff, 0xff, 0xff, 0xff}},
		{"no list", []byte{0xa0}},
	} {
		if _, err := Replay(tt.kel); err == nil {
			t.Errorf("%s: Replay accepts it", tt.name)
		}
	}
}

func TestInceptionMayNameItself(t *testing.T) {
	c := newController(t, 1)
	e := event{Type: inception, Keys: keysOf(c.current), Threshold: 1}
	unnamed, err := e.preimage()
	if err != nil {
		t.Fatal(err)
	}
	e.AID = codec.CID(unnamed)
	if h, err := Replay(forge(t, nil, c.current, e)); err != nil || h.AID() != e.AID {
		t.Errorf("its own name: %v", err)
	}
	e.AID = c.AID()
	if _, err := Replay(forge(t, nil, c.current, e)); err == nil {
		t.Error("another's name: Replay accepts it")
	}
}

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

func TestCompare(t *testing.T) {
	first := newController(t, 1)
	long := rotate(t, first, epoch)
	fork := rotate(t, first, epoch.Add(time.Second))
	for _, tt := range []struct {
		name string
		a, b []byte
		want Relation
	}{
		{"same bytes", long.KEL(), long.KEL(), Equal},
		{"longer", long.KEL(), first.KEL(), Extends},
		{"rollback", first.KEL(), long.KEL(), Shorter},
		{"fork", long.KEL(), fork.KEL(), Forked},
		{"another agent", long.KEL(), newController(t, 2).KEL(), Forked},
		{"other signature, same events", resigned(t, first), first.KEL(), Equal},
	} {
		if got, err := Compare(tt.a, tt.b); got != tt.want || err != nil {
			t.Errorf("%s: Compare = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := Compare(first.KEL(), []byte{1}); err == nil {
		t.Error("Compare with garbage succeeds")
	}
}

func resigned(t *testing.T, c *Controller) []byte {
	t.Helper()
	events, err := split(c.KEL())
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := parseEvent(events[0])
	if err != nil {
		t.Fatal(err)
	}
	return forge(t, nil, newController(t, 9).current, s.Event)
}

func TestController(t *testing.T) {
	c := newController(t, 1)
	blob, err := c.Blob()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadController(blob)
	if err != nil || loaded.AID() != c.AID() || !bytes.Equal(loaded.KEL(), c.KEL()) || !ValidAID(c.AID()) {
		t.Fatalf("LoadController = %v, %v, want the same agent", loaded, err)
	}
	next := rotate(t, loaded, epoch)
	if next.Seq() != 1 || loaded.Seq() != 0 || next.AID() != c.AID() {
		t.Errorf("after Rotate: seq %d and %d, want 1 and the old one unchanged", next.Seq(), loaded.Seq())
	}
	ended, err := c.Deactivate(epoch)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		current, next ed25519.PrivateKey
		kel           []byte
	}{
		{"swapped seeds", c.next, c.current, c.KEL()},
		{"stale current seed", c.current, next.next, next.KEL()},
		{"uncommitted next seed", c.current, c.current, c.KEL()},
		{"deactivated", c.current, c.next, ended},
		{"no history", c.current, c.next, []byte{0x80}},
	} {
		b, err := codec.Marshal(map[int]any{1: tt.current.Seed(), 2: tt.next.Seed(), 3: codec.RawMessage(tt.kel)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := LoadController(b); err == nil {
			t.Errorf("%s: LoadController accepts it", tt.name)
		}
	}
}

func TestRotateStopsAtTheCap(t *testing.T) {
	c := newController(t, 1)
	for {
		next, err := c.Rotate(rand.NewChaCha8([32]byte{byte(c.Seq())}), epoch)
		if err != nil {
			break
		}
		c = next
	}
	if n := len(c.KEL()); n > MaxKELBytes || n < MaxKELBytes-1024 {
		t.Errorf("the last history has %d bytes, want just under %d", n, MaxKELBytes)
	}
	if _, err := Replay(c.KEL()); err != nil {
		t.Error(err)
	}
}

func TestSignedObject(t *testing.T) {
	c := newController(t, 1)
	type body struct {
		A string `cbor:"1,keyasint"`
		B string `cbor:"2,keyasint,omitempty"`
	}
	wire, id, err := SignObject(c, body{A: "x"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSigned(wire)
	if err != nil || s.ID() != id || s.Verify(c.History(), 1) != nil {
		t.Fatalf("ParseSigned = %+v, %v, want the object signed", s, err)
	}
	var b body
	if s, err := ParseSignedAs(padded(t, s), &b); err != nil || s.ID() != id || b.A != "x" {
		t.Errorf("an empty member sent along: %+v, %v, want the same object", b, err)
	}
	s.Env.Alg = -7
	if b, _ := codec.Marshal(s); parses(b) {
		t.Error("another algorithm is accepted")
	}
	s.Env.Alg, s.Body = algEdDSA, []byte{0x80}
	if b, _ := codec.Marshal(s); parses(b) {
		t.Error("a body that is no map is accepted")
	}
	if parses([]byte{0xa0}) {
		t.Error("an object without a body is accepted")
	}
}

// padded writes the object with a member that should have been left out.
func padded(t *testing.T, s Signed) []byte {
	t.Helper()
	s.Body = codec.RawMessage("\xa2\x01\x61x\x02\x60")
	b, err := codec.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parses(wire []byte) bool { _, err := ParseSigned(wire); return err == nil }

func TestCacheIsBoundedInBytes(t *testing.T) {
	one := newController(t, 1)
	room := (len(one.KEL()) + stateCost) * 3
	cache := NewCache(room)
	var first *History
	for seed := range byte(5) {
		c := newController(t, seed)
		h, err := cache.Replay(c.KEL())
		if err != nil || h.AID() != c.AID() {
			t.Fatal(err)
		}
		if seed == 0 {
			first = h
		}
		if again, _ := cache.Replay(newController(t, 0).KEL()); again != first {
			t.Error("the history in use was dropped")
		}
		if cache.size > room || len(cache.byKey) != cache.order.Len() {
			t.Errorf("cache holds %d bytes, want at most %d", cache.size, room)
		}
	}
	if len(cache.byKey) != 3 {
		t.Errorf("cache holds %d histories, want 3", len(cache.byKey))
	}
	if _, err := cache.Replay([]byte{0x80}); err == nil || len(cache.byKey) != 3 {
		t.Error("a history that does not replay took a place")
	}
}

func TestCacheKnowsTheLatest(t *testing.T) {
	young := newController(t, 1)
	at, _ := after(time.Hour)
	grown := rotate(t, young, at)
	size := len(young.KEL()) + stateCost
	c := NewCache(4 * size)
	latest := func() int {
		if h := c.Latest(young.AID()); h != nil {
			return h.Len()
		}
		return 0
	}
	for _, tt := range []struct {
		name string
		ask  func()
		want int
	}{
		{"nothing yet", func() {}, 0},
		{"a first one", func() { c.Replay(young.KEL()) }, 1},
		{"a longer one", func() { c.Replay(grown.KEL()) }, 2},
		{"one that was asked for before", func() { c.Replay(young.KEL()) }, 1},
		{"the other once more", func() { c.Replay(grown.KEL()) }, 2},
		{"one that does not replay", func() { c.Replay(grown.KEL()[1:]) }, 2},
		{"forgotten", func() { c.Forget(young.AID()) }, 0},
		{"brought again", func() { c.Replay(grown.KEL()) }, 2},
		{"pushed out by others", func() {
			for seed := range byte(8) {
				c.Replay(newController(t, 10+seed).KEL())
			}
		}, 0},
	} {
		tt.ask()
		if got := latest(); got != tt.want {
			t.Errorf("%s: the latest has %d events, want %d", tt.name, got, tt.want)
		}
	}
	if len(c.byAID) != len(c.byKey) || c.size > c.max {
		t.Errorf("%d agents, %d histories, %d of %d bytes", len(c.byAID), len(c.byKey), c.size, c.max)
	}
}

func TestValidAID(t *testing.T) {
	good := newController(t, 1).AID()
	for _, tt := range []struct {
		name, s string
		want    bool
	}{
		{"an AID", good, true},
		{"upper case", strings.ToUpper(good), false},
		{"short", good[1:], false},
		{"digit 1", good[:58] + "1", false},
		{"other multibase", "z" + good[1:], false},
	} {
		if got := ValidAID(tt.s); got != tt.want {
			t.Errorf("%s: ValidAID = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzReplay(f *testing.F) {
	for _, file := range []string{"identity-suite", "kel-key-length", "kel-prerotation", "kel-supersede-1"} {
		for _, kel := range histories(f, "testdata/"+file+".json") {
			f.Add(kel)
		}
	}
	f.Fuzz(func(t *testing.T, kel []byte) {
		sum := sha256.Sum256(kel)
		Plausible(kel, uint64(sum[0])%4, kel, sum[:])
		h, err := Replay(kel)
		if err != nil {
			return
		}
		if rel, err := Compare(kel, h.Raw()); rel != Equal || err != nil || !ValidAID(h.AID()) {
			t.Fatalf("a history that replays compares as %v, %v with itself", rel, err)
		}
	})
}

func FuzzParseSigned(f *testing.F) {
	wire, _, err := SignObject(newController(f, 1), map[int]string{1: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	f.Fuzz(func(t *testing.T, wire []byte) {
		s, err := ParseSigned(wire)
		if err != nil {
			return
		}
		if c, err := codec.Canonical(s.Preimage()); err != nil || !bytes.Equal(c, s.Preimage()) {
			t.Fatalf("the preimage of %x is not canonical", wire)
		}
	})
}

// histories are all the key histories of a vector file.
func histories(f *testing.F, path string) (kels [][]byte) {
	f.Helper()
	b := readFile(f, path)
	d := json.NewDecoder(bytes.NewReader(b))
	for isKEL := false; ; {
		tok, err := d.Token()
		if err != nil {
			return kels
		}
		s, _ := tok.(string)
		if isKEL {
			kels = append(kels, unhex(f, s))
		}
		isKEL = s == "kel_hex"
	}
}
