package envelope_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

func FuzzOuter(f *testing.F) {
	vectors.Seeds(f, "testdata/sealed-1.json")
	f.Add([]byte("\xa2\x01\x01\x02\x7f\x61b\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := envelope.ParseOuter(raw)
		if err != nil {
			return
		}
		again, err := envelope.ParseOuter(o.Bytes())
		if err != nil || again.To != o.To || again.KID != o.KID || !bytes.Equal(again.CT, o.CT) {
			t.Fatalf("%x is written as %x and read with %v", raw, o.Bytes(), err)
		}
	})
}

func FuzzInner(f *testing.F) {
	vectors.Seeds(f, "testdata/sealed-1.json")
	o := envelope.Outer{To: "bafyreigoldenrecipient", Suite: envelope.SuiteX25519, Enc: make([]byte, 32)}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := envelope.ParseInner(raw, o)
		if err != nil {
			return
		}
		if _, err := codec.Canonical(m.Preimage()); err != nil {
			t.Fatalf("the preimage of %x is no CBOR: %v", raw, err)
		}
		now := time.UnixMilli(int64(m.TS))
		if h, err := m.Replay(identity.Replay); err == nil {
			_ = m.VerifyInnerSig(h, now, envelope.DefaultGrace)
		}
		_ = m.CheckTime(now)
	})
}
