package learned

import (
	"strconv"

	"github.com/anet-hub/anet/hub/internal/peers"
)

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

// pageURL is where a peer answers with the entries behind a place.
func pageURL(endpoint string, s Stream, after int64) string {
	return endpoint + streams[s].path + "?cursor=" + strconv.FormatInt(after, 10)
}
