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

// thin reads some of a body every hundred milliseconds, and no more once it has so
// much.
func thin(step, most int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for read := int64(0); read < most; {
			n, err := io.CopyN(io.Discard, r.Body, step)
			if read += n; err != nil {
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"status":"queued"}`)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(longest) // a server that has not read a body to its end does not see who hangs up
	}
}

// A large message over a slow line arrives as long as it moves. One that stands still
// is the peer's failure, however much of it has gone; one whose time is over while it
// moves is nobody's.
func TestALargeMessageOverASlowLine(t *testing.T) {
	const size = 2 << 20 // 2.8 MB as it is sent: 17 s with 16 KiB at a time
	for _, tt := range []struct {
		why        string
		step, most int64
		given      time.Duration
		reason     string
		slow       bool
		took       time.Duration // about
	}{
		{"it moves", 16 << 10, 1 << 40, time.Hour, "", false, 17 * time.Second},
		{"it stands still from the start", 1, 1, time.Hour, "answer_too_slow", true, 10 * time.Second},
		{"it stands still half way", 16 << 10, 900 << 10, time.Hour, "answer_too_slow", true, 20 * time.Second},
		{"it hardly moves", 4 << 10, 1 << 40, time.Hour, "answer_too_slow", true, 10 * time.Second},
		{"its time is over while it moves", 8 << 10, 1 << 40, 11 * time.Second, "peer_line_slow", false, 11 * time.Second},
		{"its time is over before that can be seen", 8 << 10, 1 << 40, 9 * time.Second, "answer_too_slow", true, 9 * time.Second},
	} {
		key := newKey(t)
		p := peers.Peer{AID: key.AID(), Name: "peer", Endpoint: "http://peer.example"}
		inBubble(t, thin(tt.step, tt.most), func(t *testing.T, c *Client) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.given)
			defer cancel()
			began := time.Now()
			err := c.Forward(ctx, p, forward.Sign(key, "dest", make([]byte, size), began))
			reason := ""
			if e := errs.As(err); e != nil {
				reason = e.Reason
			}
			took := time.Since(began).Round(time.Second)
			if reason != tt.reason || errors.Is(err, context.DeadlineExceeded) != tt.slow || took != tt.took {
				t.Errorf("%s: %v after %s, want %q after %s", tt.why, err, took, tt.reason, tt.took)
			}
		})
	}
}

// narrow are connections of which little lies at the other end.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return c, err
}

// What waits in this machine has not moved: most of a message to a peer that reads
// nothing is still to be written however long it is waited for.
func TestLittleOfAMessageWaitsHere(t *testing.T) {
	asked, over := make(chan struct{}), make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1)
		close(asked)
		<-over
	}))
	srv.Listener = narrow{srv.Listener}
	srv.Start()
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(over) })

	var m moving
	req, err := m.forwardRequest(srv.URL, forward.Sign(newKey(t), "dest", make([]byte, 4<<20), time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _, _ = open(t).exchange(ctx, open(t).stays, req, most)
	}()
	<-asked
	after(t.Context(), 300*time.Millisecond) // with less, a wrong client is not found out; a right one always passes
	moved := m.moved.Load()
	cancel()
	if <-ended; moved > 1<<20 {
		t.Errorf("%d of %d bytes are gone", moved, m.size)
	}
}
