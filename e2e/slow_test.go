package e2e

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

const (
	slowHeaders, slowBodies = 1000, 100
	headerLimit, bodyLimit  = 10 * time.Second, 20 * time.Second

	// manyAnswers is how many answers show that nobody is held up, on a machine that stands
	// still for most of the time that the slow ones have.
	manyAnswers = 5
)

// Connections that drip hold neither the hub nor its file descriptors.
func TestSlowConnectionsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	agent := stage.NewAgent(t, hub.Hub)
	agent.Register()
	before := openFiles(t, hub.PID())

	var d drippers
	start, arrived := time.Now(), make(chan struct{})
	go func() { // on a slow machine the first are closed before the last have come
		defer close(arrived)
		for range slowHeaders {
			d.drip(t, hub.Hub, "GET /healthz HTTP/1.1\r\nHost: ", 'x', 5*time.Second)
		}
		for range slowBodies {
			for _, route := range []string{"/agents/keys:lookup", "/nowhere"} { // which reads it, and which does not
				d.drip(t, hub.Hub, "POST "+route+" HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", ' ', time.Second)
			}
		}
	}()
	answered, slowest := answers(t, agent, func() bool {
		return d.crowd(slowHeaders/4) && openFiles(t, hub.PID()) >= before+slowHeaders/4
	}, func() bool { return over(arrived) && d.open.Load() == 0 })
	if answered < manyAnswers {
		t.Errorf("beside the slow connections %d times health and mail were told, want it many times", answered)
	}
	d.wait.Wait()
	t.Logf("all were closed after %s; meanwhile %d answers, the slowest after %s", time.Since(start), answered, slowest)
	for name, limit := range map[string]time.Duration{"header": headerLimit, "body": bodyLimit} {
		longest := d.longest(name == "body")
		if longest > limit+stage.Stall {
			t.Errorf("a slow %s was closed after %s, want %s", name, longest, limit)
		}
	}
	stage.Until(t, time.Minute, "the file descriptors are back to where they began", func() bool {
		return openFiles(t, hub.PID()) <= before+10
	})
}

// answers asks for the hub's health and polls until the slow ones are gone. It gives how
// often both were answered beside many of them, and the longest time that this took.
func answers(t *testing.T, agent *stage.Agent, many, gone func() bool) (answered int, slowest time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(2 * stage.Patience); !gone(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the slow connections are still open")
		}
		start := time.Now()
		if a := agent.Hub.Get(t, "/healthz"); a.Status != 200 {
			t.Errorf("/healthz: %s", a)
		}
		agent.Poll(wire.Poll{})
		slowest = max(slowest, time.Since(start))
		if many() {
			answered++
		}
	}
	return answered, slowest
}

func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// drippers are connections that send a byte from time to time until they are
// closed from the other side.
type drippers struct {
	wait sync.WaitGroup
	open atomic.Int64

	mu    sync.Mutex
	took  [2][]time.Duration // of headers, of bodies
	conns []net.Conn
}

// crowd reports whether that many are open still: whoever is answered then was not kept
// waiting for their end.
func (d *drippers) crowd(many int64) bool { return d.open.Load() >= many }

// hangUp closes what is still open from this side.
func (d *drippers) hangUp() {
	d.mu.Lock()
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.wait.Wait()
}

func (d *drippers) drip(t *testing.T, h *stage.Hub, begin string, next byte, every time.Duration) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		t.Error(err)
		return
	}
	d.dripAt(conn, begin, next, every)
}

func (d *drippers) dripAt(conn net.Conn, begin string, next byte, every time.Duration) {
	_, _ = conn.Write([]byte(begin)) // who is closed by now is closed at once
	d.mu.Lock()
	d.conns = append(d.conns, conn)
	d.mu.Unlock()
	start, closed := time.Now(), make(chan struct{})
	d.open.Add(1)
	d.wait.Go(func() {
		defer conn.Close()
		defer d.open.Add(-1)
		drips := time.NewTicker(every)
		defer drips.Stop()
		go awaitClose(conn, closed)
		for {
			select {
			case <-drips.C:
				_, _ = conn.Write([]byte{next})
			case <-closed:
				d.record(strings.HasPrefix(begin, "POST"), time.Since(start))
				return
			case <-time.After(time.Minute):
				return
			}
		}
	})
}

// awaitClose reads until the hub has closed the connection.
func awaitClose(conn net.Conn, closed chan struct{}) {
	defer close(closed)
	buf := make([]byte, 4096)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

func (d *drippers) record(body bool, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := 0
	if body {
		i = 1
	}
	d.took[i] = append(d.took[i], took)
}

func (d *drippers) longest(body bool) (longest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := 0
	if body {
		i = 1
	}
	for _, took := range d.took[i] {
		longest = max(longest, took)
	}
	return longest
}

func openFiles(t *testing.T, pid int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	stage.Must(t, err)
	return len(files)
}
