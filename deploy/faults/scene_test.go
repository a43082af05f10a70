package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// town is an engine with two containers and the hub that is one of them.
type town struct {
	mu      sync.Mutex
	deeds   []string
	down    bool
	offset  time.Duration
	follows bool // the hub's clock follows the file, as with the tag faults
}

func (w *town) engine(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.URL.Path == "/containers/json":
		var f struct{ Label []string }
		_ = json.Unmarshal([]byte(r.FormValue("filters")), &f)
		_, service, _ := strings.Cut(f.Label[1], "=")
		if f.Label[0] != labelProject+"=anet" {
			fmt.Fprint(rw, `[]`)
			return
		}
		fmt.Fprintf(rw, `[{"Id":%q}]`, service)
		return
	case r.Method == http.MethodPut:
		in := tar.NewReader(r.Body)
		head, _ := in.Next()
		text, _ := io.ReadAll(in)
		w.deeds = append(w.deeds, fmt.Sprintf("%s/%s=%s", r.FormValue("path"), head.Name, text))
		if w.follows {
			w.offset, _ = time.ParseDuration(string(text))
		}
		return
	}
	deed := strings.TrimPrefix(r.URL.Path, "/containers/")
	w.deeds = append(w.deeds, deed)
	switch deed {
	case "hub-a/kill":
		w.down = true
	case "hub-a/start":
		w.down = false
	}
	rw.WriteHeader(http.StatusNoContent)
}

func (w *town) hub(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		rw.WriteHeader(http.StatusServiceUnavailable)
	}
	if r.URL.Path == "/metrics" {
		seconds := float64(time.Now().Add(w.offset).UnixMilli()) / 1000
		fmt.Fprintln(rw, "# HELP\nanet_hub_clock_seconds", strconv.FormatFloat(seconds, 'g', -1, 64))
	}
}

func (w *town) did() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.deeds, ", ")
}

func newScene(t *testing.T, w *town) *scene {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	docker := &http.Server{Handler: http.HandlerFunc(w.engine)}
	go func() { _ = docker.Serve(ln) }()
	hub := httptest.NewServer(http.HandlerFunc(w.hub))
	t.Cleanup(func() { _ = docker.Close(); hub.Close() })
	return &scene{
		engine: newEngine(socket), project: "anet", hub: hub.URL, log: slog.New(slog.DiscardHandler),
		hold: time.Millisecond, offset: 10 * time.Minute, patience: time.Minute, pause: time.Millisecond,
	}
}

func TestFaultsBeginAndEnd(t *testing.T) {
	tests := []struct{ fault, want string }{
		{"hub-down", "hub-a/kill, hub-a/start"},
		{"database-restart", "postgres-a/restart"},
		{"clock", "/tmp/anet-hub-clock-offset=10m0s, /tmp/anet-hub-clock-offset=0s"},
		{"all", "hub-a/kill, hub-a/start, postgres-a/restart, /tmp/anet-hub-clock-offset=10m0s, /tmp/anet-hub-clock-offset=0s"},
		{"flood", ""},
	}
	for _, tt := range tests {
		w := &town{follows: true}
		s := newScene(t, w)
		if err := s.play(t.Context(), s.named(tt.fault)); err != nil || w.did() != tt.want {
			t.Errorf("%s: did %q, %v, want %q", tt.fault, w.did(), err, tt.want)
		}
	}
}

// Whatever interrupts it, nothing stays broken.
func TestAnInterruptedFaultIsMended(t *testing.T) {
	w := &town{}
	s := newScene(t, w)
	s.hold = time.Hour
	ctx, interrupt := context.WithCancel(t.Context())
	f := s.named("hub-down")[0]
	kill := f.begin
	f.begin = func(ctx context.Context) error { defer interrupt(); return kill(ctx) }
	err := s.provoke(ctx, f)
	if want := "hub-a/kill, hub-a/start"; !errors.Is(err, context.Canceled) || w.did() != want {
		t.Errorf("did %q, %v, want %q and the interruption", w.did(), err, want)
	}
}

func TestAHubWithAnOrdinaryClockIsNamed(t *testing.T) {
	s := newScene(t, &town{})
	s.patience = 20 * time.Millisecond
	if err := s.moveClock(t.Context()); err == nil || !strings.Contains(err.Error(), "the tag faults") {
		t.Errorf("the clock of an ordinary hub: %v", err)
	}
}

func TestAnotherProjectIsLeftAlone(t *testing.T) {
	w := &town{}
	s := newScene(t, w)
	s.project = "theirs"
	if err := s.killHub(t.Context()); err == nil || w.did() != "" {
		t.Errorf("did %q, %v, want nothing and an error", w.did(), err)
	}
}

func TestWrongUse(t *testing.T) {
	for _, line := range []string{"", "flood", "clock now", "--for 1s"} {
		var out bytes.Buffer
		if err := run(t.Context(), strings.Fields(line), &out); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v, want the usage", line, err)
		}
	}
}
