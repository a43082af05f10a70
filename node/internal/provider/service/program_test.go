package service

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
)

// folder is short, since the paths of sockets end at 107 bytes.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// listen opens a socket in the folder and hands each connection to serve.
func listen(t testing.TB, path string, serve func(net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// programAt runs an HTTP handler on a socket and returns its path.
func programAt(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	path := filepath.Join(folder(t), "s")
	serveOn(t, path, h)
	return path
}

func serveOn(t testing.TB, path string, h http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

// serving is a provider with the one capability "a" behind a socket.
func serving(t testing.TB, path string, change func(*config.ServiceCapability)) *Provider {
	t.Helper()
	return servingBelow(t, filepath.Dir(path), path, change)
}

// piped is a provider whose program is at the other end of a pipe, where the time is
// the test's own.
func piped(t testing.TB, serve func(net.Conn), timeoutMS int64) *Provider {
	t.Helper()
	p := serving(t, "/nowhere/s", func(c *config.ServiceCapability) { c.TimeoutMS = timeoutMS })
	p.programs["a"].use(func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() { defer far.Close(); serve(far) }()
		return near, nil
	}, "unix", "/nowhere/s")
	return p
}

// servingBelow checks the socket's folders from a trusted one on.
func servingBelow(t testing.TB, trusted, path string, change func(*config.ServiceCapability)) *Provider {
	t.Helper()
	c := config.ServiceCapability{ID: "a", URL: "unix://" + path}
	if change != nil {
		change(&c)
	}
	p, err := newBelow(&config.Service{Capabilities: []config.ServiceCapability{c}}, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func call(p *Provider, args string) provider.Outcome {
	return p.Invoke(context.Background(), provider.Call{
		Capability: "a", Args: json.RawMessage(args), Caller: "bafyCaller", TaskID: "ix_1"})
}

func answering(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}
