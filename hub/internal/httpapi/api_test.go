package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

var testNow = time.UnixMilli(1_767_225_600_000)

// fixture is the face with one signed route that echoes, for the checks that
// every route shares.
type fixture struct {
	api   *API
	hub   *identity.Controller
	agent *identity.Controller
	log   *bytes.Buffer
	reg   *prometheus.Registry
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{hub: newController(t), agent: newController(t), log: &bytes.Buffer{}, reg: prometheus.NewRegistry()}
	f.api = New(Deps{
		Signers: f, Key: f, Replays: identity.NewCache(1 << 20), Budget: budget.New(64 << 20),
		Proxies: Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		Version: "test", Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: f.reg, Gather: f.reg, Now: func() time.Time { return testNow },
	}, f)
	return f
}

func newController(t testing.TB) *identity.Controller {
	t.Helper()
	return directorytest.NewNode(t, testNow).Key
}

func (f *fixture) Current() *identity.Controller { return f.hub }

func (f *fixture) SignerKEL(_ context.Context, v moderation.Visitor) ([]byte, error) {
	if v.AID == f.agent.AID() {
		return f.agent.KEL(), nil
	}
	return nil, errs.New(errs.NotFound, "unknown_agent", "no such agent")
}

func (f *fixture) routes(a *API, r chi.Router) {
	echo := func(w http.ResponseWriter, _ *http.Request, c *Caller) error {
		return writeJSON(w, http.StatusOK, map[string]any{"aid": c.AID, "body": string(c.Body)})
	}
	r.Post("/relay/echo", a.signed(signedRoute{action: "echo", maxBody: 64}, echo))
	r.Post("/agents/{aid}/echo", a.signed(signedRoute{action: "echo"}, echo))
	r.Get("/internal", a.open(func(http.ResponseWriter, *http.Request) error {
		return fmt.Errorf("open /var/lib/secret: %w", errors.New("pq: password authentication failed"))
	}))
	r.Get("/waits", a.open(func(_ http.ResponseWriter, r *http.Request) error {
		<-r.Context().Done()
		return r.Context().Err()
	}))
	r.Get("/panic", a.open(func(http.ResponseWriter, *http.Request) error { panic("sql: SELECT secret") }))
	r.Post("/typed", a.open(func(w http.ResponseWriter, r *http.Request) error {
		body, release, err := a.readBody(w, r, maxOpenBody)
		if err != nil {
			return err
		}
		defer release()
		var v struct {
			Name string `json:"name"`
		}
		if err := decode(body, &v); err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, v)
	}))
}

func (f *fixture) do(r *http.Request) (*http.Response, map[string]any) {
	w := httptest.NewRecorder()
	f.api.ServeHTTP(&deadlines{w}, r)
	resp := w.Result()
	raw, _ := io.ReadAll(resp.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	return resp, body
}

// deadlines gives the recorder the deadlines a connection has.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error { return nil }

// signedRequest is a request as a correct client sends it.
func (f *fixture) signedRequest(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	relayauth.Sign(f.agent, "echo", f.hub.AID(), r, []byte(body), uint64(testNow.UnixMilli()))
	return r
}

func TestSignedRequests(t *testing.T) {
	tests := []struct {
		name   string
		path   string
		change func(f *fixture, r *http.Request)
		status int
		code   string
	}{
		{"a correct request passes", "/relay/echo", func(*fixture, *http.Request) {}, 200, ""},
		{"the bare question mark is part of the target", "/relay/echo?", func(*fixture, *http.Request) {}, 200, ""},
		{"another body", "/relay/echo", func(_ *fixture, r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader("other"))
			r.ContentLength = 5
		}, 401, "bad_signature"},
		{"another target", "/relay/echo", func(_ *fixture, r *http.Request) { r.RequestURI = "/relay/echo?x=1" }, 401, "bad_signature"},
		{"a signature for another hub", "/relay/echo", func(f *fixture, r *http.Request) {
			relayauth.Sign(f.agent, "echo", f.agent.AID(), r, []byte("hi"), uint64(testNow.UnixMilli()))
		}, 401, "bad_signature"},
		{"a signature for another action", "/relay/echo", func(f *fixture, r *http.Request) {
			relayauth.Sign(f.agent, "send", f.hub.AID(), r, []byte("hi"), uint64(testNow.UnixMilli()))
		}, 401, "bad_signature"},
		{"five minutes and a millisecond old", "/relay/echo", func(f *fixture, r *http.Request) {
			relayauth.Sign(f.agent, "echo", f.hub.AID(), r, []byte("hi"), uint64(testNow.UnixMilli()-300_001))
		}, 401, "stale_timestamp"},
		{"five minutes ahead still passes", "/relay/echo", func(f *fixture, r *http.Request) {
			relayauth.Sign(f.agent, "echo", f.hub.AID(), r, []byte("hi"), uint64(testNow.UnixMilli()+300_000))
		}, 200, ""},
		{"a header twice", "/relay/echo", func(_ *fixture, r *http.Request) { r.Header.Add(wire.HeaderSeq, "0") }, 401, "bad_auth_headers"},
		{"no headers", "/relay/echo", func(_ *fixture, r *http.Request) {
			for _, h := range []string{wire.HeaderAID, wire.HeaderTime, wire.HeaderSeq, wire.HeaderSig} {
				r.Header.Del(h)
			}
		}, 401, "bad_auth_headers"},
		{"an unknown signer", "/relay/echo", func(f *fixture, r *http.Request) { r.Header.Set(wire.HeaderAID, f.hub.AID()) }, 401, "unknown_signer"},
		{"another agent's path", "/agents/bafyother/echo", func(*fixture, *http.Request) {}, 401, "not_the_owner"},
		{"an older wire at the mailboxes", "/relay/echo", func(_ *fixture, r *http.Request) { r.Header.Set(wire.HeaderVersion, "1") }, 426, "wire_too_old"},
		{"no wire at the mailboxes", "/relay/echo", func(_ *fixture, r *http.Request) { r.Header.Del(wire.HeaderVersion) }, 426, "wire_too_old"},
		{"a newer wire", "/relay/echo", func(_ *fixture, r *http.Request) { r.Header.Set(wire.HeaderVersion, "3") }, 400, "wire_too_new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			r := f.signedRequest(tt.path, "hi")
			tt.change(f, r)
			resp, body := f.do(r)
			if resp.StatusCode != tt.status {
				t.Fatalf("status %d, want %d (%v)", resp.StatusCode, tt.status, body)
			}
			if code, _ := body["code"].(string); code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
			if resp.Header.Get(wire.HeaderVersion) != "2" {
				t.Error("the answer does not say which wire it speaks")
			}
		})
	}
}

// The signer must be known before a byte of the body is read (checklist 11).
func TestUnknownSignerCostsNoBody(t *testing.T) {
	f := newFixture(t)
	r := f.signedRequest("/relay/echo", "hi")
	r.Header.Set(wire.HeaderAID, f.hub.AID())
	r.Body = io.NopCloser(unreadable{t})
	if resp, _ := f.do(r); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d, want 401", resp.StatusCode)
	}
}

type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestBodyLimits(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct {
		name    string
		body    string
		chunked bool
		status  int
	}{
		{"at the limit", long[:64], false, 200},
		{"one byte over, announced", long, false, 413},
		{"one byte over, chunked", long, true, 413},
		{"empty", "", false, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			r := f.signedRequest("/relay/echo", tt.body)
			if tt.chunked {
				r.ContentLength = -1
			}
			resp, body := f.do(r)
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d (%v)", resp.StatusCode, tt.status, body)
			}
		})
	}
}

// Nothing inside leaks: what has no kind is told by its request id alone.
func TestInternalErrorsAreNotTold(t *testing.T) {
	for _, path := range []string{"/internal", "/panic"} {
		f := newFixture(t)
		resp, body := f.do(httptest.NewRequest(http.MethodGet, path, nil))
		if resp.StatusCode != 500 || body["error"] != "internal error" || body["code"] != "internal" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, body)
		}
		id, _ := body["request_id"].(string)
		if id == "" || !strings.Contains(f.log.String(), id) {
			t.Errorf("%s: the log does not name request %q", path, id)
		}
	}
}

// A database that is away is nobody's mistake, and every request fails of it.
func TestAnAbsentDatabaseIsToldAndNotLogged(t *testing.T) {
	f := newFixture(t)
	f.api.Down = func(error) bool { return true }
	resp, body := f.do(httptest.NewRequest(http.MethodGet, "/internal", nil))
	if resp.StatusCode != 503 || body["code"] != "database_unavailable" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v, want 503 database_unavailable with Retry-After", resp.StatusCode, body)
	}
	if strings.Contains(f.log.String(), "ERROR") {
		t.Errorf("the log says %s", f.log)
	}
}

func TestHostileJSONIsRefused(t *testing.T) {
	tests := []struct{ name, body string }{
		{"not JSON", "garbage"},
		{"a name twice", `{"name":"a","name":"b"}`},
		{"a name twice but for case", `{"name":"a","NAME":"b"}`},
		{"broken UTF-8", "{\"name\":\"\xff\"}"},
		{"nested beyond reason", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)},
		{"something behind it", `{"name":"a"} {}`},
		{"a list instead", `[]`},
		{"nothing instead", `null`},
		{"a number for a text", `{"name":1e999}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			resp, body := f.do(httptest.NewRequest(http.MethodPost, "/typed", strings.NewReader(tt.body)))
			if resp.StatusCode != 400 || body["code"] != "malformed_json" {
				t.Errorf("%d %v, want 400 malformed_json", resp.StatusCode, body)
			}
		})
	}
}

// However many paths and methods are tried, the series stay a handful.
func TestMetricsDoNotGrowWithWhatIsScanned(t *testing.T) {
	f := newFixture(t)
	scan := func(from, to int) {
		for i := from; i < to; i++ {
			f.do(httptest.NewRequest(fmt.Sprintf("FOO%d", i), fmt.Sprintf("/p%d/x?cap=c%d", i, i), nil))
			f.do(httptest.NewRequest(http.MethodPost, fmt.Sprintf("/agents/a%d/echo", i), nil))
		}
	}
	scan(0, 10)
	before := series(t, f.reg)
	scan(10, 10_000)
	if after := series(t, f.reg); after != before {
		t.Errorf("%d series became %d", before, after)
	}
}

// Who hangs up was not answered, and is not counted as if.
func TestWhoHangsUpIsCountedApart(t *testing.T) {
	f := newFixture(t)
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	f.do(httptest.NewRequest(http.MethodGet, "/waits", nil).WithContext(ctx))
	f.wantMetrics(t, `requests_total{class="4xx",method="GET",route="/waits"} 1`)
}

// What fails at the hub is told from what its callers do.
func TestRefusalsAreCountedByKind(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/internal", "/panic", "/nowhere"} {
		f.do(httptest.NewRequest(http.MethodGet, path, nil))
	}
	f.do(httptest.NewRequest(http.MethodPost, "/relay/echo", nil))
	f.wantMetrics(t, `refusals_total{kind="internal",route="/internal"} 1`, `refusals_total{kind="internal",route="/panic"} 1`,
		`refusals_total{kind="not_found",route="unmatched"} 1`, `refusals_total{kind="upgrade_required",route="unmatched"} 1`)
}

// A check that hangs is not ready, and makes none of the others so.
func TestReadinessIsAMetric(t *testing.T) {
	f := newFixture(t)
	f.api.Checks = []Check{
		{"database", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		{"schema", func(context.Context) error { return errors.New("older than the database") }},
		{"identity", func(ctx context.Context) error { return ctx.Err() }},
	}
	synctest.Test(t, func(t *testing.T) {
		f.wantMetrics(t, `ready{check="database"} 0`, `ready{check="schema"} 0`, `ready{check="identity"} 1`)
	})
}

// wantMetrics scrapes, and wants lines that begin with the hub's prefix.
func (f *fixture) wantMetrics(t *testing.T, want ...string) {
	t.Helper()
	scraped := httptest.NewRecorder()
	f.api.ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range want {
		if !strings.Contains(scraped.Body.String(), line+"\n") {
			t.Errorf("the metrics do not hold %s:\n%s", line, scraped.Body)
		}
	}
}

func series(t *testing.T, reg *prometheus.Registry) int {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		n += len(f.GetMetric())
	}
	return n
}

func TestBrowsersMayAsk(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest(http.MethodOptions, "/relay/echo", nil)
	resp, _ := f.do(r)
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %d %v", resp.StatusCode, resp.Header)
	}
}

// No line, at the most verbose level, says who asked or for whom (checklist 46).
func TestLogsNameNoAgent(t *testing.T) {
	f := newFixture(t)
	for _, r := range []*http.Request{
		f.signedRequest("/relay/echo", "hi"),
		f.signedRequest("/agents/"+f.agent.AID()+"/echo", "hi"),
		f.signedRequest("/relay/echo", strings.Repeat("x", 65)),
		httptest.NewRequest(http.MethodGet, "/agents/"+f.agent.AID()+"/nowhere?cap=text.digest", nil),
	} {
		f.do(r)
	}
	for _, secret := range []string{f.agent.AID(), "192.0.2.1", "text.digest", "nowhere"} {
		if strings.Contains(f.log.String(), secret) {
			t.Errorf("the log names %q:\n%s", secret, f.log)
		}
	}
	if !strings.Contains(f.log.String(), "/agents/{aid}/echo") {
		t.Error("the log does not name the route: this test proves nothing")
	}
}

// A number in a log is read by people and by programs, and neither guesses its
// unit.
func TestTheRequestLogTellsMilliseconds(t *testing.T) {
	f := newFixture(t)
	now := testNow
	f.api.Now = func() time.Time { now = now.Add(1500 * time.Microsecond); return now }
	f.do(httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if !strings.Contains(f.log.String(), `"took_ms":1.5}`) {
		t.Errorf("the log says %s", f.log)
	}
}
