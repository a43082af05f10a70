package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// BenchmarkMail is one envelope of 1 KiB sent, polled and acknowledged over
// HTTP on loopback, signatures included. Compare with the bare statements of
// BenchmarkCycle in postgres.
func BenchmarkMail(b *testing.B) {
	for _, workers := range []int{2, 8, 32} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			nodes := make([]*identity.Controller, workers)
			for i := range nodes {
				nodes[i] = newController(b)
			}
			on := usual()
			on.perMinute, on.burst = 1e9, 1e9
			p := newPostOn(b, on, pgtest.URL(b), newController(b), nodes...)
			p.drive(b, workers, nodes)
		})
	}
}

func (p *post) drive(b *testing.B, workers int, nodes []*identity.Controller) {
	p.srv.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = workers
	var next atomic.Int64
	b.SetParallelism(workers / 2) // times GOMAXPROCS
	b.ResetTimer()
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		self := nodes[int(next.Add(1)-1)%len(nodes)]
		for pb.Next() {
			p.send(self, self, envelopeFor(self, 1<<10))
			var ids []int64
			for _, m := range p.poll(self, "").Messages {
				ids = append(ids, m.ID)
			}
			p.ask(self, "ack", string(must(json.Marshal(wire.Ack{IDs: ids}))))
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "cycles/s")
}
