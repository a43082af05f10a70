package outbound

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// line is a way to a server that holds nothing in between, so that time on it can be
// that of a bubble.
type line struct {
	ends chan net.Conn
	over chan struct{}
}

func (l line) Accept() (net.Conn, error) {
	select {
	case c := <-l.ends:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l line) Close() error   { close(l.over); return nil }
func (l line) Addr() net.Addr { return &net.TCPAddr{} }

func (l line) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.ends <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// longest is how long a handler may sleep although nobody waits for it any more.
const longest = time.Hour

// inBubble tells a story with a server and a client whose clock is the bubble's.
func inBubble(t *testing.T, h http.HandlerFunc, story func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := line{make(chan net.Conn), make(chan struct{})}
		srv := &http.Server{Handler: h}
		go srv.Serve(l)
		defer time.Sleep(longest)
		defer srv.Close()
		c := New(Options{})
		defer c.Close()
		c.plain.DialContext = l.dial
		story(t, c)
	})
}
