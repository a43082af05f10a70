package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// BenchmarkRegister registers agents with a card, keys and eight capabilities,
// each first as somebody new and then, unchanged, again. Making the requests is
// not counted; the path from the router to the disk is.
func BenchmarkRegister(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		w := newBenchTown(b)
		serve(b, w, w.requests(b, w.applicants(b)))
	})
	b.Run("unchanged", func(b *testing.B) {
		w := newBenchTown(b)
		nodes := w.applicants(b)
		for _, r := range w.requests(b, nodes) {
			w.api.ServeHTTP(&deadlines{httptest.NewRecorder()}, r)
		}
		serve(b, w, w.requests(b, nodes))
	})
}

func newBenchTown(b *testing.B) *town {
	w := newTown(b)
	w.rules.Strangers = admission.NewLimiter(1e9, 1e9, "register_rate", w.clock)
	w.now = time.Now()
	return w
}

// benchNode is a node and the body it registers with.
type benchNode struct {
	node *directorytest.Node
	body wire.Register
}

func (w *town) applicants(b *testing.B) []benchNode {
	nodes := make([]benchNode, b.N)
	for i := range nodes {
		n := directorytest.NewNode(b, w.now)
		var skills []string
		for j := range 8 {
			skills = append(skills, fmt.Sprintf("bench.c%d", (i*8+j)%1000))
		}
		r := n.Register("bench", skills...)
		r.A2ACard, r.EncKeys = n.Card(1, w.now, "bench", skills...), n.Keyset(w.now, false)
		nodes[i] = benchNode{n, r}
	}
	return nodes
}

func (w *town) requests(b *testing.B, nodes []benchNode) []*http.Request {
	out := make([]*http.Request, len(nodes))
	for i, n := range nodes {
		w.now = w.now.Add(time.Millisecond / 100)
		out[i] = w.signed(n.node, wire.ActionRegister, "/register", n.body)
	}
	return out
}

// serve works through requests on as many goroutines as the hub would have.
func serve(b *testing.B, w *town, requests []*http.Request) {
	var next atomic.Int64
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			rec := httptest.NewRecorder()
			w.api.ServeHTTP(&deadlines{rec}, requests[next.Add(1)-1])
			if rec.Code != http.StatusOK {
				b.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
	})
}
