package envelope

import (
	"bytes"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

func FuzzOuter(f *testing.F) {
	f.Add(outerMembers().encode())
	f.Add([]byte("\xa2\x01\x01\x02\x7f\x61b\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := ParseOuter(raw)
		if err != nil {
			return
		}
		again, err := ParseOuter(o.Bytes())
		if err != nil || again.To != o.To || again.KID != o.KID || !bytes.Equal(again.CT, o.CT) {
			t.Fatalf("%x is written as %x and read with %v", raw, o.Bytes(), err)
		}
	})
}

func FuzzInner(f *testing.F) {
	alice := agent(f)
	o := Outer{To: "bob", Suite: SuiteX25519, Enc: make([]byte, 32)}
	f.Add(draft("bob").members(alice).signed(alice, o).padded().encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseInner(raw, o)
		if err != nil {
			return
		}
		if _, err := codec.Canonical(m.Preimage()); err != nil {
			t.Fatalf("the preimage of %x is no CBOR: %v", raw, err)
		}
		h, err := m.Replay(identity.Replay)
		if err == nil {
			_ = m.VerifyInnerSig(h, now, DefaultGrace)
		}
		_ = m.CheckTime(now)
	})
}
