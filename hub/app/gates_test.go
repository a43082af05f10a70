package app

import (
	"io"
	"net"
	"sync"
	"testing"
)

// nobody is a port where nobody listens.
const nobody = 1

// gates are where an authority finds a hub under its names.
type gates struct{ tls, plain *gate }

func newGates(t *testing.T) *gates { return &gates{newGate(t), newGate(t)} }

// gate is a port that is open before there is a hub behind it, and stays open when
// another takes its place: a port that is only chosen may be somebody else's by the
// time it is listened on.
type gate struct {
	net.Listener
	open func() // once somebody is behind it
	led  chan struct{}

	mu sync.Mutex
	to string
}

func newGate(t *testing.T) *gate {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	g := &gate{Listener: ln, led: make(chan struct{})}
	g.open = sync.OnceFunc(func() { close(g.led) })
	go func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			go g.pass(from)
		}
	}()
	return g
}

func (g *gate) port() int { return g.Addr().(*net.TCPAddr).Port }

// lead has the gate lead to an address from now on.
func (g *gate) lead(to net.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = to.String()
	g.open()
}

func (g *gate) address() string {
	<-g.led
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to
}

// pass waits for somebody to be there.
func (g *gate) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", g.address())
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(from, to)
}
