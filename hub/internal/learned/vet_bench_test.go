package learned

import (
	"testing"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// What a page of cards costs the processor.
func BenchmarkVet(b *testing.B) {
	var entries []any
	for range 100 {
		entries = append(entries, told(directorytest.NewNode(b, now), 1, "text.digest", "text.count", "own.word"))
	}
	body := pageOf(b, entries...)
	from := Source{Peer: 1, Stream: peers.Cards, Endpoint: peerHome}
	for b.Loop() {
		if _, list, err := vetter().Preview(b.Context(), shelf{}, from, body, 0, Room{1000, 1000, 1 << 30}); err != nil || len(list) != 100 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(100*b.N), "µs/entry")
}
