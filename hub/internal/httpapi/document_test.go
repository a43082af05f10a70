package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/api"
	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/shared/wire"
)

// documented holds what any test of this package is answered to the document of
// the API.
func documented(t testing.TB, r *http.Request, status int, h http.Header, body []byte) {
	t.Helper()
	o, ok := apitest.Load(t).Find(r.Method, r.URL.EscapedPath())
	if !ok {
		return
	}
	if err := o.CheckAnswer(status, h, body); err != nil {
		t.Error(err)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	f := newFixture(t)
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.yaml", nil))
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/yaml" || !bytes.Equal(w.Body.Bytes(), api.OpenAPI) {
		t.Errorf("%d %v with %d bytes", w.Code, w.Header(), w.Body.Len())
	}
}

func TestQuotaHeaders(t *testing.T) {
	policy := admission.Policy{Name: "send_rate", Size: 200, Window: 9500 * time.Millisecond}
	for _, tt := range []struct {
		why   string
		quota admission.Quota
		want  string
	}{
		{"something is left", admission.Quota{Policy: policy, Left: 7}, `"send_rate";r=7`},
		{"nothing is, and the wait is rounded up", admission.Quota{Policy: policy, Next: 1200 * time.Millisecond}, `"send_rate";r=0;t=2`},
	} {
		w := httptest.NewRecorder()
		showQuota(w, tt.quota)
		if got := w.Header().Get("RateLimit"); got != tt.want || w.Header().Get("RateLimit-Policy") != `"send_rate";q=200;w=10` {
			t.Errorf("%s: RateLimit: %s, want %s (%v)", tt.why, got, tt.want, w.Header())
		}
	}
}

// The document names some limits, for people and for generated clients: those
// that no operator can change. They are the ones in force.
func TestTheDocumentNamesTheLimitsInForce(t *testing.T) {
	d, w := apitest.Load(t), newTown(t)
	l := w.api.limits
	for _, tt := range []struct {
		at   string
		want int
	}{
		{"parameters/Limit/schema/maximum", l.Pages["agents"].Most},
		{"parameters/Limit/schema/default", l.Pages["agents"].Default},
		{"parameters/Text/schema/maxLength", l.Questions.Text},
		{"schemas/Register/properties/name/maxLength", l.Registration.Name},
		{"schemas/Register/properties/summary/maxLength", l.Registration.Summary},
		{"schemas/Register/properties/readme/maxLength", l.Registration.Readme},
		{"schemas/Register/properties/pricing/maxLength", l.Registration.Pricing},
		{"schemas/Register/properties/caps/maxItems", l.Registration.Caps},
		{"schemas/Register/properties/caps/items/maxLength", l.Registration.Cap},
		{"schemas/Profile/properties/readme/maxLength", l.Registration.Readme},
		{"schemas/P2P/properties/addr/maxLength", l.Registration.Address},
	} {
		if got := whole(d, "components/"+tt.at); got != tt.want {
			t.Errorf("%s is %d in api/openapi.yaml and %d in the hub", tt.at, got, tt.want)
		}
	}
}

// whole is the number at a place of the document, -1 where there is none.
func whole(d *apitest.Document, at string) int {
	n := d.Root()
	for name := range strings.SplitSeq(at, "/") {
		n, _ = n.Child(name)
	}
	if v, ok := n.Value.(interface{ Int64() (int64, error) }); ok {
		i, _ := v.Int64()
		return int(i)
	}
	return -1
}

// What GET /limits tells is what is enforced: one more is refused.
func TestLimitsAreEnforced(t *testing.T) {
	w := newTown(t)
	l, n := w.api.limits, w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	letters := func(n int) string { return strings.Repeat("a", n) }
	p2p := "/agents/" + n.AID() + "/p2p"
	for _, tt := range []struct {
		why string
		ask func(more int) answer
	}{
		{"caps", func(more int) answer {
			return w.register(n, n.Register("alice", slices.Repeat([]string{"x"}, l.Registration.Caps+more)...))
		}},
		{"cap", func(more int) answer { return w.register(n, n.Register("alice", letters(l.Registration.Cap+more))) }},
		{"name", func(more int) answer { return w.register(n, n.Register(letters(l.Registration.Name+more))) }},
		{"summary", func(more int) answer {
			return w.call(n, wire.ActionProfile, "/profile", wire.Profile{Summary: letters(l.Registration.Summary + more)})
		}},
		{"readme", func(more int) answer {
			return w.call(n, wire.ActionProfile, "/profile", wire.Profile{Readme: letters(l.Registration.Readme + more)})
		}},
		{"pricing", func(more int) answer {
			return w.call(n, wire.ActionProfile, "/profile", wire.Profile{Pricing: letters(l.Registration.Pricing + more)})
		}},
		{"address", func(more int) answer {
			return w.call(n, wire.ActionP2P, p2p, wire.P2P{Addr: letters(l.Registration.Address + more)})
		}},
		{"terms", func(more int) answer {
			return w.get("/agents?cap=" + strings.TrimSuffix(strings.Repeat("a,", l.Questions.Terms+more), ","))
		}},
		{"text", func(more int) answer { return w.get("/agents?q=" + letters(l.Questions.Text+more)) }},
		{"signed body", func(more int) answer {
			return w.call(n, wire.ActionProfile, "/profile", []byte("{}"+strings.Repeat(" ", int(l.Bodies.Signed)-2+more)))
		}},
		{"lookup body", func(more int) answer {
			body := `{"aid":"` + n.AID() + `"}`
			return w.post("/agents/kel:lookup", body+strings.Repeat(" ", int(l.Bodies.Lookup)-len(body)+more))
		}},
	} {
		if a := tt.ask(0); a.StatusCode != 200 {
			t.Errorf("%s, as much as is told: %d %s", tt.why, a.StatusCode, a.raw)
		}
		if a := tt.ask(1); a.StatusCode != 400 && a.StatusCode != 413 {
			t.Errorf("%s, one more than is told: %d %.200s", tt.why, a.StatusCode, a.raw)
		}
	}
}

// usedUp is a budget of which nothing is left.
func usedUp() Budget {
	b := budget.New(1)
	_, _ = b.Take(1)
	return b
}

// broken is a body that ends early.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// What a client can't bring about: every answer is held to the document as any
// other, by do.
func TestRareRefusalsAreDocumented(t *testing.T) {
	away := errors.New("away")
	for _, tt := range []struct {
		code    string
		upset   func(w *town)
		status  int
		targets []string
	}{
		{"not_ready", func(w *town) {
			w.api.Checks = []Check{{"database", func(context.Context) error { return away }}}
		}, 503, []string{"/readyz"}},
		{"hub_identity_missing", func(w *town) { w.hub = nil }, 503, []string{"/hub/identity", "/", "/x402/supported", "/x402/supply",
			"/x402/issuance", "/x402/issuance/head", "/x402/witnesses"}},
		{"hub_busy", func(w *town) { w.api.Budget = usedUp() }, 503, []string{"/agents", "/?q=", "/graph", "/a2a/v1/agents", "/x402/issuance", "/x402/witnesses",
			"/discovery/resources", "/x402/discovery/resources"}},
		{"database_unavailable", func(w *town) {
			w.api.Down = func(error) bool { return true }
			w.pool.Close()
		}, 503, reads},
		{"internal", func(w *town) { w.pool.Close() }, 500, reads},
	} {
		w := newTown(t)
		tt.upset(w)
		for _, target := range tt.targets {
			if a := w.get(target); a.StatusCode != tt.status || a.code() != tt.code {
				t.Errorf("%s: %d %s, want %d %s", target, a.StatusCode, a.raw, tt.status, tt.code)
			}
		}
	}
}

// reads are the routes that read something from the database.
var reads = []string{
	"/agents", "/agents?cap=x", "/?cap=x", "/graph", "/stats", "/a2a/v1/agents", "/agents/x", "/agents/x/reputation", "/agents/x/kel", "/agents/x/keys",
	"/agents/x/card", "/agents/x/jwks.json", "/agents/x/p2p", "/a2a/v1/agents/x/card",
	"/x402/supply", "/x402/issuance", "/x402/issuance/head", "/x402/witnesses", "/discovery/resources", "/x402/discovery/resources",
	"/x402/resource/bafyreibufhsac5stptyv3bn7vq6eycq7hmel46x2mtqyiw7mo7rkrxxkri/x",
}

// The same at the routes with bodies: those of a signer are read once it is
// known, and before its signature is looked at.
func TestRareRefusalsOfBodiesAreDocumented(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice"))
	own, key := "/agents/"+n.AID(), w.hub
	for target, action := range map[string]string{
		"/register": wire.ActionRegister, "/profile": wire.ActionProfile, own + "/visibility": wire.ActionVisibility,
		own + "/p2p": wire.ActionP2P, own + "/keys": wire.ActionKeys, own + "/deregister": wire.ActionDeregister,
		"/agents/kel:lookup": "", "/agents/keys:lookup": "", "/a2a/v1/agents/card:lookup": "",
		"/agents/reputation:lookup": "", "/reviews": "", "/x402/verify": "", "/x402/settle": "", "/x402/redeem": "", "/x402/witness": "", "/federation/clear": "",
	} {
		request := func() *http.Request { return w.signed(n, action, target, n.Register("alice")) }
		cut := request()
		cut.Body = io.NopCloser(broken{})
		w.refused(cut, 400, "body_incomplete")
		enough := w.api.Budget
		w.api.Budget = usedUp()
		w.refused(request(), 503, "hub_busy")
		w.api.Budget = enough
		if action != "" {
			r := request()
			w.hub = nil
			w.refused(r, 503, "hub_identity_missing")
			w.hub = key
		}
	}
}

func (w *town) refused(r *http.Request, status int, code string) {
	w.t.Helper()
	if a := w.do(r); a.StatusCode != status || a.code() != code {
		w.t.Errorf("%s: %d %s, want %d %s", r.URL.Path, a.StatusCode, a.raw, status, code)
	}
}
