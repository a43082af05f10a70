package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
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

func TestEveryAnswerOfAProgram(t *testing.T) {
	large := `{"x":"` + strings.Repeat("x", MaxAnswer) + `"}`
	tests := []struct {
		name   string
		answer http.HandlerFunc
		status effect.Status
		reason task.Reason
	}{
		{"an object", answering(200, `{"n":1}`), effect.OK, ""},
		{"an empty object", answering(200, `{}`), effect.OK, ""},
		{"the largest object", answering(200, large[:MaxAnswer-2]+`"}`), effect.OK, ""},
		{"too large", answering(200, large), effect.Unverified, task.BadAnswer},
		{"a list", answering(200, `[]`), effect.Unverified, task.BadAnswer},
		{"null", answering(200, `null`), effect.Unverified, task.BadAnswer},
		{"no JSON", answering(200, `<html>`), effect.Unverified, task.BadAnswer},
		{"nothing", answering(200, ``), effect.Unverified, task.BadAnswer},
		{"two objects", answering(200, `{}{}`), effect.Unverified, task.BadAnswer},
		{"duplicate names", answering(200, `{"a":1,"a":2}`), effect.Unverified, task.BadAnswer},
		{"not UTF-8", answering(200, "{\"a\":\"\xff\"}"), effect.Unverified, task.BadAnswer},
		{"deep", answering(200, `{"a":`+strings.Repeat("[", 20000)), effect.Unverified, task.BadAnswer},
		{"accepted for later", answering(202, `{}`), effect.Unverified, task.Accepted},
		{"created", answering(201, `{}`), effect.Unverified, task.BadAnswer},
		{"no content", answering(204, ``), effect.Unverified, task.BadAnswer},
		{"redirected", answering(307, ``, "Location", "http://127.0.0.1:1/"), effect.Unverified, task.BadAnswer},
		{"moved", answering(302, ``, "Location", "/elsewhere"), effect.Unverified, task.BadAnswer},
		{"too many", answering(429, ``), effect.Unavailable, task.Unavailable},
		{"busy", answering(503, ``), effect.Unavailable, task.Unavailable},
		{"refused", answering(400, `{"error":"no such thing"}`), effect.Failed, task.RefusedByService},
		{"forbidden", answering(403, ``), effect.Failed, task.RefusedByService},
		{"broken", answering(500, `{}`), effect.Unverified, task.ServiceError},
		{"bad gateway", answering(502, ``), effect.Unverified, task.ServiceError},
		{"a status of its own", answering(599, ``), effect.Unverified, task.ServiceError},
		{"cut off inside the answer", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"n":`)
			panic(http.ErrAbortHandler)
		}, effect.Unverified, task.ConnectionLost},
	}
	for _, tt := range tests {
		got := call(serving(t, programAt(t, tt.answer), nil), `{}`)
		if got.Status != tt.status || got.Reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s", tt.name, got.Status, got.Reason, tt.status, tt.reason)
		}
		if got.Verifiable {
			t.Errorf("%s: the program's word counts as verifiable", tt.name)
		}
	}
}

func TestProgramsThatSayNothing(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	short := func(c *config.ServiceCapability) { c.TimeoutMS = 50 }
	tests := []struct {
		name   string
		serve  func(net.Conn)
		change func(*config.ServiceCapability)
		status effect.Status
		reason task.Reason
	}{
		{"hangs up at once", func(c net.Conn) { c.Close() }, nil, effect.Unverified, task.ConnectionLost},
		{"hangs up after the request", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Close() }, nil, effect.Unverified, task.ConnectionLost},
		{"speaks something else", func(c net.Conn) { c.Read(make([]byte, 4096)); io.WriteString(c, "SSH-2.0\r\n"); c.Close() }, nil, effect.Unverified, task.ConnectionLost},
		{"endless header", func(c net.Conn) {
			defer c.Close()
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := fmt.Fprintf(c, "X: %s\r\n", strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}, nil, effect.Unverified, task.ConnectionLost},
		{"never answers", func(c net.Conn) { go func() { <-hold; c.Close() }() }, short, effect.Unverified, task.Timeout},
		{"begins and stops", func(c net.Conn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
			go func() { <-hold; c.Close() }()
		}, short, effect.Unverified, task.Timeout},
	}
	for _, tt := range tests {
		path := filepath.Join(folder(t), "s")
		listen(t, path, tt.serve)
		got := call(serving(t, path, tt.change), `{}`)
		if got.Status != tt.status || got.Reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s", tt.name, got.Status, got.Reason, tt.status, tt.reason)
		}
	}
}

// Who calls a provider bounds the call, too: that limit is a time-out as well.
func TestALimitAroundTheCallIsATimeout(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	path := programAt(t, func(http.ResponseWriter, *http.Request) { <-hold })
	p := serving(t, path, func(c *config.ServiceCapability) { c.TimeoutMS = 50 })
	ctx, cancel := context.WithTimeout(t.Context(), p.Limit("a"))
	defer cancel()
	got := p.Invoke(ctx, provider.Call{Capability: "a"})
	if got.Status != effect.Unverified || got.Reason != task.Timeout {
		t.Errorf("a call beyond its limit: %s %s, want UNVERIFIED timeout", got.Status, got.Reason)
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

func TestWhatTheCallerIsTold(t *testing.T) {
	body := `{"bytes":5,"ratio":0.50,"huge":1e400,"text":"x","message":"done\u001b[2J","evidence":{
		"verify_trust":9,"auth_trust":9,"protocol":"cas","observed_state":"bafy","quirk":"q","native_ack":false,"requested":"b"}}`
	got := call(serving(t, programAt(t, answering(200, body)), nil), `{}`)
	e := got.Evidence
	e.LatencyMS = 0
	want := effect.Evidence{VerifyTrust: 1, Protocol: "cas", Requested: "a", ObservedState: "bafy", Quirk: "q"}
	if *e != want {
		t.Errorf("evidence = %+v, want %+v", *e, want)
	}
	if string(got.Metrics) != `{"bytes":5,"ratio":0.50}` {
		t.Errorf("metrics = %s", got.Metrics)
	}
	if got.Message != "done [2J" {
		t.Errorf("message = %q", got.Message)
	}
}

func TestEvidenceOfAProgramThatGivesNone(t *testing.T) {
	for _, body := range []string{`{"a":"b"}`, `{"evidence":null}`, `{"evidence":{"verify_trust":"4","native_ack":"yes","protocol":null}}`} {
		e := call(serving(t, programAt(t, answering(200, body)), nil), `{}`).Evidence
		e.LatencyMS = 0
		want := effect.Evidence{VerifyTrust: 1, Protocol: "http", Requested: "a", NativeAck: true, ObservedState: body}
		if *e != want {
			t.Errorf("answer %s: evidence = %+v, want %+v", body, *e, want)
		}
	}
	lowered := call(serving(t, programAt(t, answering(200, `{"evidence":{"verify_trust":0}}`)), nil), `{}`)
	if lowered.Evidence.VerifyTrust != 0 {
		t.Error("a program may not lower its trust")
	}
}

func TestRefusalsAreCutAndWaitsArePassedOn(t *testing.T) {
	long := strings.Repeat("é", 300)
	got := call(serving(t, programAt(t, answering(422, `{"error":"`+long+`"}`)), nil), `{}`)
	if got.Message != long[:2*MaxMessage] {
		t.Errorf("refusal of %d bytes, want %d", len(got.Message), 2*MaxMessage)
	}
	got = call(serving(t, programAt(t, answering(503, ``, "Retry-After", "7")), nil), `{}`)
	if got.RetryAfter != 7*time.Second {
		t.Errorf("retry after %v, want 7s", got.RetryAfter)
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

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"n":1,"evidence":{"verify_trust":3},"message":"m"}`))
	f.Add([]byte(`{"evidence":[],"message":{},"n":-0.0}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		resp := &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(body)))}
		o := reply{id: "a", resp: resp, ctx: t.Context(), began: time.Now()}.outcome()
		switch {
		case o.Status == effect.OK && o.Evidence.VerifyTrust > 1:
			t.Errorf("trust raised to %d", o.Evidence.VerifyTrust)
		case o.Metrics != nil && !json.Valid(o.Metrics):
			t.Errorf("metrics %s", o.Metrics)
		}
	})
}
