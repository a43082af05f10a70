package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
)

// narrow are connections of which little lies between the two ends.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return c, err
}

// peerBehindAThinLine reads some of a body every twenty milliseconds, and no more
// once it has so much.
func peerBehindAThinLine(t *testing.T, step, most int64) peers.Peer {
	over := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for read := int64(0); read < most; {
			n, err := io.CopyN(io.Discard, r.Body, step)
			if read += n; err != nil {
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"status":"queued"}`)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		<-over // a server that has not read a body to its end does not see who hangs up
	}))
	t.Cleanup(func() { close(over); srv.Close() })
	srv.Listener = narrow{srv.Listener}
	srv.Start()
	return peers.Peer{AID: newKey(t).AID(), Name: "peer", Endpoint: srv.URL}
}

// A large message over a slow line arrives as long as it moves. One that stands still
// is the peer's failure, however much of it has gone; one whose time is over while it
// moves is nobody's.
func TestALargeMessageOverASlowLine(t *testing.T) {
	const size = 700 << 10
	for _, tt := range []struct {
		why        string
		step, most int64
		given      time.Duration
		reason     string
		slow       bool
	}{
		{"it moves", 32 << 10, 1 << 40, time.Hour, "", false},
		{"it stands still from the start", 1, 1, time.Hour, "answer_too_slow", true},
		{"it stands still half way", 32 << 10, 300 << 10, time.Hour, "answer_too_slow", true},
		{"its time is over while it moves", 8 << 10, 1 << 40, 400 * time.Millisecond, "peer_line_slow", false},
	} {
		p := peerBehindAThinLine(t, tt.step, tt.most)
		c := New(Options{Allow: prefixes("127.0.0.0/8"), Timeout: 300 * time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), tt.given)
		began := time.Now()
		err := c.Forward(ctx, p, forward.Sign(newKey(t), "dest", make([]byte, size), time.Now()))
		cancel()
		reason := ""
		if e := errs.As(err); e != nil {
			reason = e.Reason
		}
		if reason != tt.reason || errors.Is(err, context.DeadlineExceeded) != tt.slow {
			t.Errorf("%s: %v after %s, want %q", tt.why, err, time.Since(began), tt.reason)
		}
		c.Close()
	}
}
