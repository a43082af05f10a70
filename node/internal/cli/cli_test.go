package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/nodetest"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// somebody is a well-formed AID.
const somebody = "bafyreigtala4crn2jjs7fzyuaxsknhnstc7joihe6n6gw6tg42ujzc2qbe"

// person types commands for one data folder.
type person struct {
	t    *testing.T
	dir  string
	env  map[string]string
	node *nodetest.Node // what Open makes
}

func newPerson(t *testing.T) *person {
	return &person{t: t, dir: filepath.Join(t.TempDir(), "n"), env: map[string]string{}, node: nodetest.New()}
}

// typed runs one command.
func (p *person) typed(args ...string) (code int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	program := &Program{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now,
		Getenv: func(name string) string { return p.env[name] },
		Open: func(context.Context, string, *slog.Logger) (Node, error) {
			return opened{p.node}, nil
		},
	}
	code = program.Main(context.Background(), append([]string{"--data-dir", p.dir}, args...))
	return code, stdout.String(), stderr.String()
}

// wants runs a command that must end with the code, and gives its words.
func (p *person) wants(code int, args ...string) (out, errOut string) {
	p.t.Helper()
	got, out, errOut := p.typed(args...)
	if got != code {
		p.t.Errorf("anet %s ended with %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errOut)
	}
	return out, errOut
}

// up runs the person's node behind the control socket.
func (p *person) up() {
	p.t.Helper()
	dir, err := datadir.Open(p.dir)
	must(p.t, err)
	claim, err := control.Take(dir)
	must(p.t, err)
	l, err := claim.Listen()
	must(p.t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := control.Serve(ctx, l, p.node, stop)
		claim.Release()
		done <- err
	}()
	p.t.Cleanup(func() { stop(); must(p.t, <-done) })
}

type opened struct{ *nodetest.Node }

func (o opened) API() node.API             { return o.Node }
func (o opened) Run(context.Context) error { return nil }
func (o opened) Close() error              { return nil }

// hub says who it is, and nothing else.
type hub struct {
	*httptest.Server
	key *identity.Controller
}

type zeros struct{ n byte }

func (z zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = z.n
	}
	return len(b), nil
}

func newHub(t *testing.T, seed byte) *hub {
	t.Helper()
	key, err := identity.NewController(zeros{seed}, time.Now())
	must(t, err)
	h := &hub{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hub/identity", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"aid":"`+h.key.AID()+`","kel":"`+codec.EncodeB64(h.key.KEL())+`"}`)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(wire.HeaderVersion, "2")
		io.WriteString(w, "{}")
	})
	mux.HandleFunc("POST /agents/kel:lookup", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"no such agent","code":"agent_unknown"}`)
	})
	h.Server = httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return h
}

func decoded[T any](t *testing.T, out string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("not one JSON value: %v\n%s", err, out)
	}
	return v
}
