package learned

import "github.com/anet-hub/anet/hub/internal/peers"

// Stream is one of what a peer publishes.
type Stream = peers.Stream

// streams are read of every peer. A page is bounded before it is read (wire 2,
// J.4).
var streams = map[Stream]struct {
	path string
	most int64
}{
	peers.Cards:    {"/fed/v2/cards", 16 << 20},
	peers.ADPCards: {"/fed/v1/cards", 8 << 20},
	peers.Reviews:  {"/fed/v1/reviews", 16 << 20},
}
