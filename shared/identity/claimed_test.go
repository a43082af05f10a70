package identity

import (
	"crypto/rand"
	"testing"
	"time"
)

func TestClaimed(t *testing.T) {
	c, err := NewController(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := c.Rotate(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, kel := range [][]byte{c.KEL(), rotated.KEL()} {
		if aid, err := Claimed(kel); err != nil || aid != c.AID() {
			t.Errorf("claims %q, %v, want %s", aid, err, c.AID())
		}
	}
	for _, kel := range [][]byte{nil, {0x80}, []byte("x"), {0x81, 0x01}} {
		if aid, err := Claimed(kel); err == nil {
			t.Errorf("%x claims %q", kel, aid)
		}
	}
}
