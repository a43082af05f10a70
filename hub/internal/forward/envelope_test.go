package forward

import (
	"bytes"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// signedAs is the preimage as the specification writes it.
type signedAs struct {
	V          uint64   `cbor:"1,keyasint"`
	Origin     string   `cbor:"2,keyasint"`
	Dest       string   `cbor:"3,keyasint"`
	Payload    []byte   `cbor:"7,keyasint"`
	PayloadCID string   `cbor:"8,keyasint"`
	Hop        uint64   `cbor:"9,keyasint"`
	Seen       []string `cbor:"10,keyasint,omitempty"`
	TS         uint64   `cbor:"11,keyasint"`
}

func TestPreimageIsDeterministicCBOR(t *testing.T) {
	long := make([]byte, 70_000)
	for name, f := range map[string]wire.Forward{
		"usual":         {V: 2, OriginHubAID: "a", DestAID: "b", Payload: []byte("seal"), PayloadCID: "c", Hop: 1, SeenHubs: []string{"a"}, TS: 1_767_225_600_000},
		"seen by none":  {V: 2, OriginHubAID: "a", DestAID: "b", Payload: []byte{0}, PayloadCID: "c", Hop: 3},
		"seen by many":  {V: 2, SeenHubs: []string{"", "a", string(long[:300])}, Payload: []byte{}, TS: 1 << 62},
		"a large one":   {V: 1 << 40, Payload: long, Hop: 24, TS: 255},
		"no ASCII text": {V: 2, OriginHubAID: "ä", DestAID: "日本", Payload: []byte{1}},
	} {
		want, err := codec.Marshal(signedAs{f.V, f.OriginHubAID, f.DestAID, f.Payload, f.PayloadCID, f.Hop, f.SeenHubs, f.TS})
		if err != nil {
			t.Fatal(err)
		}
		if got := Preimage(f); !bytes.Equal(got, want) {
			t.Errorf("%s: %.100x, want %.100x", name, got, want)
		}
	}
}

func TestSign(t *testing.T) {
	hub := newHub(t)
	f := Sign(hub, "dest", []byte("sealed"), testNow)
	h, err := identity.Replay(hub.KEL())
	if err != nil {
		t.Fatal(err)
	}
	if err := identity.VerifyObject(h, hub.AID(), f.KeyStateSeq, f.TS, Preimage(f), f.Sig); err != nil {
		t.Error(err)
	}
	if f.V != 2 || f.Hop != 1 || len(f.SeenHubs) != 1 || f.SeenHubs[0] != hub.AID() || f.PayloadCID != codec.RawCID([]byte("sealed")) {
		t.Errorf("%+v", f)
	}
}

func TestLargePayloadsAreCopiedOnce(t *testing.T) {
	f := wire.Forward{V: 2, Payload: make([]byte, 8<<20)}
	if n := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			Preimage(f)
		}
	}).AllocedBytesPerOp(); n > 9<<20 {
		t.Errorf("%d bytes for a payload of %d", n, len(f.Payload))
	}
}
