package stage

import (
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// Program is what stands behind a capability: it listens on a Unix socket and
// counts its effects by the task they are for. It runs in the test process, so
// that it outlives nodes that are killed.
type Program struct {
	URL string

	mu      sync.Mutex
	effects map[string]int
	server  *http.Server
	socket  string
	answer  func(w http.ResponseWriter, r *http.Request, args []byte)
}

// StartProgram starts a program that ends with the story. Its effect is counted
// before answer is called; a nil answer says OK.
func StartProgram(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, args []byte)) *Program {
	t.Helper()
	socket := filepath.Join(need.SocketDir(t), "p.sock")
	p := &Program{URL: "unix://" + socket, socket: socket, effects: map[string]int{}, answer: answer}
	if answer == nil {
		p.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) { io.WriteString(w, `{"done":1}`) }
	}
	p.Start(t)
	t.Cleanup(p.Stop)
	return p
}

// Start lets it listen again after Stop.
func (p *Program) Start(t testing.TB) {
	t.Helper()
	ln, err := net.Listen("unix", p.socket)
	Must(t, err)
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve)}
	go p.server.Serve(ln)
}

// Stop ends it at once, calls at work included.
func (p *Program) Stop() { p.server.Close() }

func (p *Program) serve(w http.ResponseWriter, r *http.Request) {
	args, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.effects[r.Header.Get("X-ANet-Task")]++
	p.mu.Unlock()
	p.answer(w, r, args)
}

// Effects is how often it worked for a task.
func (p *Program) Effects(task string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.effects[task]
}

// All are the effects by task.
func (p *Program) All() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.effects)
}

// Total is how often it worked at all.
func (p *Program) Total() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, times := range p.effects {
		n += times
	}
	return n
}
