package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

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
