package identity

import (
	"bytes"
	"crypto/ed25519"
	"math/rand/v2"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

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
