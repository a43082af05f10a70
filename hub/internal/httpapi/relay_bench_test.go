package httpapi

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
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

// BenchmarkWaiting is a message to one of many nodes that wait in long polls,
// each on a connection of its own, at another process than the one that takes
// the send. It shows what a waiting poll costs, both ends of its connection
// included, and how soon the message is there.
func BenchmarkWaiting(b *testing.B) {
	const waiting = 8000 // both ends of every connection are in this process
	var seed [32]byte
	nodes := make([]*identity.Controller, waiting)
	for i := range nodes {
		binary.LittleEndian.PutUint64(seed[:], uint64(i))
		nodes[i] = must(identity.NewController(rand.NewChaCha8(seed), testNow))
	}
	url, hub, on := pgtest.URL(b), newController(b), usual()
	on.perMinute, on.burst = 1e9, 1e9
	sender, p := newPostOn(b, on, url, hub, nodes...), newPostOn(b, on, url, hub, nodes...)
	before := inUse()
	answers := make(chan time.Time, waiting)
	for _, n := range nodes {
		p.wait(b, n, answers)
	}
	for p.board.Waiting() < waiting {
		time.Sleep(10 * time.Millisecond)
	}
	each := float64(inUse()-before) / waiting / 1024
	b.ResetTimer()
	var sum time.Duration
	n := min(b.N, waiting)
	for _, node := range nodes[:n] {
		start := time.Now()
		sender.send(node, node, envelopeFor(node, 1<<10))
		sum += (<-answers).Sub(start)
	}
	b.ReportMetric(each, "KiB/poll")
	b.ReportMetric(float64(sum.Microseconds())/float64(n)/1000, "ms/message")
}

// inUse is the memory of all that is alive.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// wait polls on a connection of its own and notes when the answer came.
func (p *post) wait(b *testing.B, as *identity.Controller, answers chan<- time.Time) {
	b.Helper()
	conn, err := net.Dial("tcp", p.srv.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if err := p.request(as, "poll", `{"wait_ms":55000}`).Write(conn); err != nil {
		b.Fatal(err)
	}
	go func() {
		defer conn.Close()
		var first [1]byte
		if _, err := conn.Read(first[:]); err == nil {
			answers <- time.Now()
		}
	}()
}
