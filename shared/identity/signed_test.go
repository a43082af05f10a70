package identity

import (
	"bytes"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

type body struct {
	A string `cbor:"1,keyasint"`
	B string `cbor:"2,keyasint,omitempty"`
}

func TestSignedObject(t *testing.T) {
	c := newController(t, 1)
	wire, id, err := SignObject(c, body{A: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var b body
	s, err := ParseSignedAs(wire, &b)
	if err != nil || s.ID() != id || s.Verify(c.History(), 1) != nil {
		t.Fatalf("ParseSignedAs = %+v, %v, want the object signed", s, err)
	}
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

func parses(wire []byte) bool { _, err := ParseSignedAs(wire, &body{}); return err == nil }

func FuzzParseSigned(f *testing.F) {
	wire, _, err := SignObject(newController(f, 1), body{A: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	f.Fuzz(func(t *testing.T, wire []byte) {
		s, err := ParseSignedAs(wire, &body{})
		if err != nil {
			return
		}
		if c, err := codec.Canonical(s.Preimage()); err != nil || !bytes.Equal(c, s.Preimage()) {
			t.Fatalf("the preimage of %x is not canonical", wire)
		}
	})
}
