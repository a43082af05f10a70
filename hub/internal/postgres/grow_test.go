package postgres

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// grow adds an event to a node's key history that changes no key (wire 2, A.3).
func grow(t *testing.T, n *directorytest.Node, now time.Time) {
	t.Helper()
	var blob map[int]codec.RawMessage
	raw, err := n.Key.Blob()
	if err == nil {
		err = codec.Unmarshal(raw, &blob)
	}
	var events []codec.RawMessage
	if err == nil {
		err = codec.Unmarshal(n.Key.KEL(), &events)
	}
	var last struct {
		Event codec.RawMessage `cbor:"1,keyasint"`
	}
	if err == nil {
		err = codec.Unmarshal(events[len(events)-1], &last)
	}
	if err != nil {
		t.Fatal(err)
	}
	preimage := marshal(t, map[int]any{1: n.AID(), 2: len(events), 3: codec.CID(last.Event), 4: "ixn", 5: [][]byte{}, 7: 1, 8: now.UnixMilli()})
	events = append(events, marshal(t, map[int]any{1: codec.RawMessage(preimage), 2: n.Key.Sign(preimage), 3: codec.CID(preimage)}))
	blob[3] = marshal(t, events)
	if n.Key, err = identity.LoadController(marshal(t, blob)); err != nil {
		t.Fatal(err)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	out, err := codec.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
