package stage

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Mood is how a sham hub takes what is asked of it.
type Mood int

// The moods.
const (
	Healthy Mood = iota
	Hangs        // accepts and never answers
	Drips        // answers a byte a second
	Fails        // answers 500, always
	Refuses      // takes no connection
)

// Sham is a hub as far as its peers can tell: it proves who it is, has nobody to
// tell of and takes mail for nobody. It can be told to behave badly.
type Sham struct {
	URL string
	AID string

	kel    []byte
	addr   string
	server *http.Server

	mu    sync.Mutex
	mood  Mood
	quit  chan struct{} // closed when the mood changes
	asked int
}

// NewSham makes a healthy one that ends with the story.
func NewSham(t testing.TB) *Sham {
	t.Helper()
	c, err := identity.NewController(rand.Reader, time.Now())
	Must(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", FreePort(t)) // where it can come back to
	ln, err := net.Listen("tcp", addr)
	Must(t, err)
	s := &Sham{URL: "http://" + addr, AID: c.AID(), kel: c.KEL(), addr: addr, quit: make(chan struct{})}
	s.serve(ln)
	t.Cleanup(func() { s.become(Healthy); s.server.Close() })
	return s
}

func (s *Sham) serve(ln net.Listener) {
	s.server = &http.Server{Handler: http.HandlerFunc(s.answer)}
	go s.server.Serve(ln)
}

// Become changes its mood, for what it is asked already as well.
func (s *Sham) Become(t testing.TB, m Mood) {
	t.Helper()
	before := s.become(m)
	switch {
	case m == Refuses && before != Refuses:
		s.server.Close()
	case m != Refuses && before == Refuses:
		ln, err := net.Listen("tcp", s.addr)
		Must(t, err)
		s.serve(ln)
	}
}

func (s *Sham) become(m Mood) (before Mood) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.quit)
	before, s.mood, s.quit = s.mood, m, make(chan struct{})
	return before
}

// Asked is how many requests came.
func (s *Sham) Asked() int { s.mu.Lock(); defer s.mu.Unlock(); return s.asked }

func (s *Sham) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	mood, quit := s.mood, s.quit
	s.mu.Unlock()
	switch mood {
	case Hangs:
		hold(quit, r)
	case Drips:
		drip(w, r, quit)
	case Fails:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		s.behave(w, r)
	}
}

func (s *Sham) behave(w http.ResponseWriter, r *http.Request) {
	var out any
	switch {
	case r.URL.Path == "/hub/identity":
		out = wire.Identity{AID: s.AID, KEL: s.kel}
	case strings.HasSuffix(r.URL.Path, "/cards"):
		out = map[string]any{"cursor": 0, "cards": []any{}}
	case strings.HasSuffix(r.URL.Path, "/reviews"):
		out = map[string]any{"cursor": 0, "reviews": []any{}}
	default:
		w.WriteHeader(http.StatusNotFound)
		out = map[string]string{"error": "UNKNOWN_DESTINATION", "detail": "nobody is here"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// hold keeps a request until whoever asked goes away, or the mood changes.
func hold(quit <-chan struct{}, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the server sees the other end go
	select {
	case <-quit:
	case <-r.Context().Done():
	}
	panic(http.ErrAbortHandler)
}

// drip answers one byte a second, for ever.
func drip(w http.ResponseWriter, r *http.Request, quit <-chan struct{}) {
	_, _ = io.Copy(io.Discard, r.Body)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-tick.C:
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
		}
	}
}
