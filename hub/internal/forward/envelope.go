package forward

import (
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// The major types of CBOR in what is signed.
const (
	majorUint  = 0
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
)

// Sign makes the envelope in which a hub passes a sealed message on, on its first
// hop. It is the same for every peer it is offered to.
func Sign(c *identity.Controller, dest string, payload []byte, now time.Time) wire.Forward {
	f := wire.Forward{
		V: wire.ForwardVersion, OriginHubAID: c.AID(), DestAID: dest,
		Payload: payload, PayloadCID: codec.RawCID(payload),
		Hop: 1, SeenHubs: []string{c.AID()}, TS: uint64(now.UnixMilli()), KeyStateSeq: c.Seq(),
	}
	f.Sig = c.Sign(Preimage(f))
	return f
}

// Preimage is what the signature of a forward covers (wire 2, J.2): the map
// {1: v, 2: origin, 3: dest, 7: payload, 8: payload_cid, 9: hop, 10: seen_hubs,
// 11: ts}, the list left out where it is empty. Its one large member is copied
// once: a payload has up to 96 MiB.
func Preimage(f wire.Forward) []byte {
	members := byte(7)
	if len(f.SeenHubs) > 0 {
		members++
	}
	b := codec.AppendHead(make([]byte, 0, len(f.Payload)+512+64*len(f.SeenHubs)), majorMap, uint64(members))
	b = codec.AppendHead(append(b, 1), majorUint, f.V)
	b = appendText(append(b, 2), f.OriginHubAID)
	b = appendText(append(b, 3), f.DestAID)
	b = append(codec.AppendHead(append(b, 7), majorBytes, uint64(len(f.Payload))), f.Payload...)
	b = appendText(append(b, 8), f.PayloadCID)
	b = codec.AppendHead(append(b, 9), majorUint, f.Hop)
	if len(f.SeenHubs) > 0 {
		b = codec.AppendHead(append(b, 10), majorArray, uint64(len(f.SeenHubs)))
		for _, aid := range f.SeenHubs {
			b = appendText(b, aid)
		}
	}
	return codec.AppendHead(append(b, 11), majorUint, f.TS)
}

func appendText(b []byte, s string) []byte {
	return append(codec.AppendHead(b, majorText, uint64(len(s))), s...)
}
