package stage

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Loss is what a line does to a request.
type Loss int

// The losses.
const (
	Nothing  Loss = iota
	Request       // it never reaches the hub
	Response      // the hub has it, and whoever asked never learns
)

// Line is a connection between a node and its hub that can be made to fail.
// Nothing signed is touched: what passes arrives as it was sent.
type Line struct {
	Hub // as the node sees it

	mu     sync.Mutex
	loses  map[string]Loss
	lost   map[string]int
	bodies map[string][][]byte
}

// NewLine makes one that works.
func NewLine(t testing.TB, h *Hub) *Line {
	l := &Line{loses: map[string]Loss{}, lost: map[string]int{}, bodies: map[string][][]byte{}}
	far := h.URL
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.pass(w, r, far) }))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	l.Hub = Hub{URL: server.URL, AID: h.AID}
	return l
}

// Lose makes requests of a path get lost from now on.
func (l *Line) Lose(path string, what Loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loses[path] = what
}

// Lost is how many requests of a path were lost.
func (l *Line) Lost(path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost[path]
}

// Bodies are the bodies that passed to a path.
func (l *Line) Bodies(path string) [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bodies[path]
}

func (l *Line) pass(w http.ResponseWriter, r *http.Request, far string) {
	body, err := io.ReadAll(r.Body)
	what := l.loss(r.URL.Path, body)
	if err != nil || what == Request {
		panic(http.ErrAbortHandler) // which closes the connection
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, far+r.RequestURI, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(out.Header, r.Header)
	answer, err := Send(http.DefaultClient, out)
	if err != nil || what == Response {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

func (l *Line) loss(path string, body []byte) Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := l.loses[path]
	if what == Nothing {
		l.bodies[path] = append(l.bodies[path], body)
	} else {
		l.lost[path]++
	}
	return what
}
