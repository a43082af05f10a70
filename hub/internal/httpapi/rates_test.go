package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// A host of a hundred known nodes may restart at once; strangers
// and bad signatures pay by address.
func TestWhoIsKnownIsNotLimitedByAddress(t *testing.T) {
	w := newTown(t)
	nodes := make([]*directorytest.Node, 100)
	for i := range nodes {
		nodes[i] = w.node(fmt.Sprint("n", i))
		r := nodes[i].Register("n", "x")
		if a := w.register(nodes[i], r); a.StatusCode == 429 {
			w.advance(time.Minute)
			w.mustRegister(nodes[i], r)
		}
	}
	w.advance(time.Hour)
	for i, n := range nodes {
		if a := w.register(n, n.Register(fmt.Sprint("changed", i%2*i), "x")); a.StatusCode != 200 {
			t.Fatalf("restart of node %d: %d %s", i, a.StatusCode, a.raw)
		}
	}
	refused := 0
	for i := range 40 {
		n := w.node(fmt.Sprint("stranger", i))
		a := w.register(n, n.Register("n", "x"))
		if a.StatusCode == 429 {
			refused++
			if a.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		}
	}
	if refused != 20 {
		t.Errorf("%d of 40 strangers were refused, want 20 beyond the burst", refused)
	}
	forged := w.signed(nodes[0], wire.ActionRegister, "/register", nodes[0].Register("n", "x"))
	forged.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
	if a := w.do(forged); a.StatusCode != 429 {
		t.Errorf("a forgery from a spent address: %d %s, want 429", a.StatusCode, a.raw)
	}
	if a := w.register(nodes[1], nodes[1].Register("again", "x")); a.StatusCode != 200 {
		t.Errorf("a known node behind that address: %d %s", a.StatusCode, a.raw)
	}
}

// Whoever names a known agent without proving to be it pays by address, whatever
// the request is refused for.
func TestRefusalsBeforeTheSignatureCountAgainstTheAddress(t *testing.T) {
	broken := func(cut func(*http.Request)) func(w *town, n *directorytest.Node) *http.Request {
		return func(w *town, n *directorytest.Node) *http.Request {
			r := w.signed(n, wire.ActionRegister, "/register", n.Register("alice", "x"))
			cut(r)
			return r
		}
	}
	body := func(raw []byte) func(*town, *directorytest.Node) *http.Request {
		return func(w *town, n *directorytest.Node) *http.Request {
			return w.signed(n, wire.ActionRegister, "/register", raw)
		}
	}
	tests := []struct {
		why     string
		request func(w *town, n *directorytest.Node) *http.Request
		status  int
	}{
		{"no JSON", body([]byte("{")), 400},
		{"nothing named", body([]byte("{}")), 400},
		{"another agent named", func(w *town, n *directorytest.Node) *http.Request {
			return w.signed(n, wire.ActionRegister, "/register", w.node("bob").Register("bob", "x"))
		}, 401},
		{"too large, as announced", body(make([]byte, maxSignedBody+1)), 413},
		{"too large, as it turns out", broken(func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, maxSignedBody+1))), -1
		}), 413},
		{"cut off on its way", broken(func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)) }), 400},
		{"an old date", broken(func(r *http.Request) { r.Header.Set(wire.HeaderTime, "1") }), 401},
		{"another key's signature", broken(func(r *http.Request) { r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86)) }), 401},
	}
	w := newTown(t)
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w.advance(time.Hour) // the address gets its twenty back
			n := w.node(tt.why)
			w.mustRegister(n, n.Register("alice", "x")) // one of them
			statuses := map[int]int{}
			for range 30 {
				statuses[w.do(tt.request(w, n)).StatusCode]++
			}
			if statuses[tt.status] != 19 || statuses[429] != 11 {
				t.Errorf("statuses %v, want 19 times %d and then 429", statuses, tt.status)
			}
			if a := w.register(n, n.Register("alice", "y")); a.StatusCode != 200 {
				t.Errorf("the agent itself: %d %s", a.StatusCode, a.raw)
			}
		})
	}
}

func TestOneAgentIsLimitedByItself(t *testing.T) {
	w := newTown(t)
	n, other := w.node("alice"), w.node("bob")
	w.mustRegister(other, other.Register("bob", "x"))
	limited := false
	for i := range 40 {
		limited = limited || w.register(n, n.Register(fmt.Sprint("n", i), "x")).StatusCode == 429
	}
	if !limited {
		t.Error("forty registrations in a moment were all taken")
	}
	if a := w.register(other, other.Register("bob", "x")); a.StatusCode != 200 {
		t.Errorf("another agent pays for it: %d %s", a.StatusCode, a.raw)
	}
}

// A captured registration, sent again and again, must not use up the limit of
// the agent that signed it.
func TestReplaysCountAgainstTheAddress(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	captured := w.signed(n, wire.ActionRegister, "/register", n.Register("alice", "x"))
	body, _ := io.ReadAll(captured.Body)
	statuses := map[int]int{}
	for range 60 {
		captured.Body = io.NopCloser(bytes.NewReader(body))
		statuses[w.do(captured).StatusCode]++
	}
	if statuses[200] != 1 || statuses[401] != 19 || statuses[429] != 40 {
		t.Errorf("statuses %v, want one 200, 19 times 401 and then 429", statuses)
	}
	if a := w.register(n, n.Register("alice", "y")); a.StatusCode != 200 {
		t.Errorf("the agent itself: %d %s", a.StatusCode, a.raw)
	}
}
