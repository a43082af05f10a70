package stage

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Link is a stretch of network in front of a program that can be cut and healed.
// It carries bytes and knows nothing of what they say.
type Link struct {
	URL string

	mu   sync.Mutex
	far  string
	cut  bool
	open map[net.Conn]struct{}
}

// NewLink makes one that works. It ends with the story.
func NewLink(t testing.TB, url string) *Link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	l := &Link{URL: "http://" + ln.Addr().String(), open: map[net.Conn]struct{}{}}
	l.Lead(url)
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { l.carry(near) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		l.Cut()
		carrying.Wait()
	})
	return l
}

// Cut breaks off whatever is under way, wherever it is, and lets nothing through.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.open {
		breakOff(c)
	}
}

// Heal lets new connections through.
func (l *Link) Heal() { l.mu.Lock(); defer l.mu.Unlock(); l.cut = false }

// Lead makes it lead to another program from now on.
func (l *Link) Lead(url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.far = strings.TrimPrefix(url, "http://")
	for c := range l.open {
		breakOff(c)
	}
}

func (l *Link) carry(near net.Conn) {
	if !l.enter(near) {
		return
	}
	defer l.leave(near)
	far, err := net.Dial("tcp", l.leads())
	if err != nil || !l.enter(far) {
		return
	}
	defer l.leave(far)
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(near, far); near.Close() })
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
}

func (l *Link) leads() string { l.mu.Lock(); defer l.mu.Unlock(); return l.far }

// enter takes note of a connection, or breaks it off where the link is cut.
func (l *Link) enter(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		breakOff(c)
		return false
	}
	l.open[c] = struct{}{}
	return true
}

func (l *Link) leave(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// breakOff ends a connection as a broken network does: nothing that is still on
// its way arrives, and no end is said.
func breakOff(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}
