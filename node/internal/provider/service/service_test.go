package service

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
)

func TestProgramsThatSayNothing(t *testing.T) {
	tests := []struct {
		name   string
		serve  func(net.Conn)
		status effect.Status
		reason task.Reason
	}{
		{"hangs up at once", func(c net.Conn) { c.Close() }, effect.Unverified, task.ConnectionLost},
		{"hangs up after the request", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Close() }, effect.Unverified, task.ConnectionLost},
		{"speaks something else", func(c net.Conn) { c.Read(make([]byte, 4096)); io.WriteString(c, "SSH-2.0\r\n"); c.Close() }, effect.Unverified, task.ConnectionLost},
		{"endless header", func(c net.Conn) {
			defer c.Close()
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := fmt.Fprintf(c, "X: %s\r\n", strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}, effect.Unverified, task.ConnectionLost},
	}
	for _, tt := range tests {
		path := filepath.Join(folder(t), "s")
		listen(t, path, tt.serve)
		got := call(serving(t, path, nil), `{}`)
		if got.Status != tt.status || got.Reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s", tt.name, got.Status, got.Reason, tt.status, tt.reason)
		}
	}
}

// A limit is a time-out, the program's own as well as that of whoever calls it.
func TestProgramsThatAreTooSlow(t *testing.T) {
	never := func(c net.Conn) { io.Copy(io.Discard, c) }
	for _, tt := range []struct {
		name  string
		serve func(net.Conn)
		own   int64
		want  time.Duration
	}{
		{"never answers", never, 50, 50 * time.Millisecond},
		{"begins and stops", func(c net.Conn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
			never(c)
		}, 50, 50 * time.Millisecond},
		{"is called for less time than it has", never, 60_000, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			got := piped(t, tt.serve, tt.own).Invoke(ctx, provider.Call{Capability: "a"})
			if took := time.Since(began); got.Status != effect.Unverified || got.Reason != task.Timeout || took != tt.want {
				t.Errorf("%s: %s %s after %s, want UNVERIFIED timeout after %s", tt.name, got.Status, got.Reason, took, tt.want)
			}
		})
	}
}

func TestACallThatIsStoppedIsInterrupted(t *testing.T) {
	arrived, hold := make(chan struct{}), make(chan struct{})
	defer close(hold)
	path := programAt(t, func(w http.ResponseWriter, r *http.Request) { close(arrived); <-hold })
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	got := serving(t, path, nil).Invoke(ctx, provider.Call{Capability: "a"})
	if got.Status != effect.Unverified || got.Reason != task.Interrupted {
		t.Errorf("interrupted call: %s %s", got.Status, got.Reason)
	}
}

func TestWhatTheProgramIsSent(t *testing.T) {
	token := filepath.Join(folder(t), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, args, want string }{
		{"as they came", `{"b": 1, "a":[1.50]}`, `{"b": 1, "a":[1.50]}`},
		{"reserved names go", `{"b":1,"$files":[],"$":2,"a$":3}`, `{"a$":3,"b":1}`},
		{"only at the top", `{"a":{"$x":1}}`, `{"a":{"$x":1}}`},
		{"none", ``, `{}`},
		{"null", `null`, `{}`},
	}
	for _, tt := range tests {
		var got string
		var head *http.Request
		path := programAt(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got, head = string(body), r
			io.WriteString(w, `{}`)
		})
		p := serving(t, path, func(c *config.ServiceCapability) { c.TokenFile = token })
		if o := call(p, tt.args); o.Status != effect.OK {
			t.Fatalf("%s: %s %s", tt.name, o.Status, o.Reason)
		}
		if got != tt.want {
			t.Errorf("%s: the program got %s, want %s", tt.name, got, tt.want)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer secret", "Content-Type": "application/json",
			HeaderCapability: "a", HeaderCaller: "bafyCaller", HeaderTask: "ix_1",
		} {
			if head.Header.Get(name) != want {
				t.Errorf("%s: header %s = %q, want %q", tt.name, name, head.Header.Get(name), want)
			}
		}
		if head.Method != http.MethodPost || head.URL.Path != "/" {
			t.Errorf("%s: request %s %s", tt.name, head.Method, head.URL)
		}
	}
}

func TestNothingIsSentWithoutAReadableToken(t *testing.T) {
	reached := false
	path := programAt(t, func(http.ResponseWriter, *http.Request) { reached = true })
	empty := filepath.Join(folder(t), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(folder(t), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"/nowhere/token", empty, fifo, "/dev/zero"} {
		p := serving(t, path, func(c *config.ServiceCapability) { c.TokenFile = file })
		if o := call(p, `{}`); o.Status != effect.Unavailable || reached {
			t.Errorf("token %s: %s, reached %v", file, o.Status, reached)
		}
		if p.Health(t.Context()) == nil {
			t.Errorf("token %s: the provider calls itself healthy", file)
		}
	}
}

// Left out in silence, files would let a caller believe they had been seen.
func TestFilesAreRefused(t *testing.T) {
	reached := false
	p := serving(t, programAt(t, func(http.ResponseWriter, *http.Request) { reached = true }), nil)
	o := p.Invoke(t.Context(), provider.Call{Capability: "a", Files: []task.Attachment{{Name: "f"}}})
	if o.Status != effect.Failed || o.Message == "" || reached {
		t.Errorf("a call with files: %s %q, reached %v", o.Status, o.Message, reached)
	}
}

func TestDescribePriceAndLimit(t *testing.T) {
	p := serving(t, "/s", func(c *config.ServiceCapability) {
		c.Price, c.TimeoutMS, c.Description = 3, 500, "does a"
	})
	if price, ok := p.Price("a.b"); !ok || price != 3 {
		t.Errorf("price below a = %d, %v", price, ok)
	}
	if d := p.Describe("a.b"); d.ID != "a.b" || d.Description != "does a" {
		t.Errorf("description below a = %+v", d)
	}
	if got := p.Limit("a"); got != 500*time.Millisecond {
		t.Errorf("limit = %v", got)
	}
	if _, ok := p.Price("b"); ok {
		t.Error("an unknown id has a price")
	}
	if o := p.Invoke(t.Context(), provider.Call{Capability: "b"}); o.Reason != task.CapabilityNotServed {
		t.Errorf("an unknown id is answered with %s", o.Reason)
	}
}

func TestTCPNeedsThePermission(t *testing.T) {
	c := &config.Service{Capabilities: []config.ServiceCapability{{ID: "a", URL: "http://127.0.0.1:1/x"}}}
	if _, err := New(c); err == nil {
		t.Error("TCP without allow_tcp")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
	})}
	go srv.Serve(l)
	defer srv.Close()
	c = &config.Service{AllowTCP: true, Capabilities: []config.ServiceCapability{{ID: "a", URL: "http://" + l.Addr().String() + "/x"}}}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Health(t.Context()); err != nil {
		t.Errorf("health: %v", err)
	}
	if o := call(p, `{}`); o.Status != effect.OK || o.Evidence.ObservedState != `{"path":"/x"}` {
		t.Errorf("call over TCP: %s %+v", o.Status, o.Evidence)
	}
}
