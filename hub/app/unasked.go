package app

import (
	"net"
	"net/http"
	"sync"
)

// unasked is connections that nobody has asked anything over yet: what browsers and
// clients open ahead. A server that shuts down waits for them as for requests, over
// five seconds, and a hub would say that it cut somebody off.
type unasked struct {
	mu    sync.Mutex
	over  bool
	conns map[net.Conn]struct{}
}

// follow has a server that shuts down close them at once.
func (u *unasked) follow(s *http.Server) {
	s.ConnState = u.see
	s.RegisterOnShutdown(u.hangUp)
}

func (u *unasked) see(c net.Conn, to http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case to != http.StateNew:
		delete(u.conns, c)
	case u.over:
		_ = c.Close()
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[c] = struct{}{}
	}
}

func (u *unasked) hangUp() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	for c := range u.conns {
		_ = c.Close()
	}
}
