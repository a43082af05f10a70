package identity

import (
	"crypto/ed25519"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
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
