package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// visitor calls running hubs, holds every request and answer to the document of
// the API, and remembers what was answered.
type visitor struct {
	t    *testing.T
	doc  *apitest.Document
	base string
	hub  string
	ts   int64
	url  string // of the database
	from byte   // of the address it seems to come from

	app      *App
	operator *directorytest.Node // with the hub's own key

	seen sightings
}

// sightings are the answers of each operation: "200", or "400 too_long".
type sightings map[string]map[string]bool

func newVisitor(t *testing.T) *visitor {
	return &visitor{t: t, doc: apitest.Load(t), seen: sightings{}}
}

// visit starts a hub with other settings than usual and goes there.
func (v *visitor) visit(change func(*Config)) {
	v.t.Helper()
	v.url = pgtest.URL(v.t)
	a := startWith(v.t, v.url, change)
	v.app, v.base, v.hub = a, "http://"+a.Addr(), a.AID()
	v.operator = &directorytest.Node{Key: a.hub.key.Current()}
}

// agent is one that nobody knows yet.
func (v *visitor) agent() *directorytest.Node { return directorytest.NewNode(v.t, time.Now()) }

// add notes an answer.
func (s sightings) add(where string, a reply) {
	if s[where] == nil {
		s[where] = map[string]bool{}
	}
	s[where][a.String()] = true
}

// reply is an answer, whose code is empty where it is a good one.
type reply struct {
	status int
	code   string
	body   map[string]any
	header http.Header
}

func (r reply) String() string { return strings.TrimSpace(fmt.Sprint(r.status, " ", r.code)) }

// opened makes a request without a signature. It seems to come from somewhere
// new each time, so that no address uses up its rate.
func (v *visitor) opened(method, target, body string) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+target, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	v.from++
	r.Header.Set("X-Real-IP", fmt.Sprintf("198.51.100.%d", v.from))
	return r
}

// signed makes a request as the document says it is signed.
func (v *visitor) signed(n *directorytest.Node, target string, body any) *http.Request {
	v.t.Helper()
	raw := text(body)
	r := v.opened(v.method(target), target, raw)
	v.sign(n, r, raw, v.now())
	return r
}

// method is how a signed operation is asked.
func (v *visitor) method(target string) string {
	path, _, _ := strings.Cut(target, "?")
	if _, ok := v.doc.Find(http.MethodPost, path); ok {
		return http.MethodPost
	}
	return http.MethodGet
}

// now is the time, and a millisecond nobody signed in before.
func (v *visitor) now() int64 {
	v.ts = max(v.ts+1, time.Now().UnixMilli())
	return v.ts
}

func (v *visitor) sign(n *directorytest.Node, r *http.Request, body string, ts int64) {
	o, ok := v.doc.Find(r.Method, r.URL.EscapedPath())
	if !ok || o.Action() == "" {
		v.t.Fatalf("%s %s is no signed operation of api/openapi.yaml", r.Method, r.URL.Path)
	}
	relayauth.Sign(n.Key, o.Action(), v.hub, r, []byte(body), uint64(ts))
}

// text is a body as it goes out: one that is no text is encoded.
func text(body any) string {
	if s, ok := body.(string); ok {
		return s
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// do sends a request, and holds the answer to the document.
func (v *visitor) do(r *http.Request) reply {
	v.t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	a := reply{status: resp.StatusCode, header: resp.Header}
	_ = json.Unmarshal(raw, &a.body) // what is no object is no failure either
	if a.code, _ = a.body["code"].(string); a.code == "" && a.body["detail"] != nil {
		a.code, _ = a.body["error"].(string) // between hubs
	}
	v.check(r, body, a, raw)
	return a
}

func (v *visitor) check(r *http.Request, body []byte, a reply, raw []byte) {
	v.t.Helper()
	if a.header.Get(wire.HeaderVersion) != "2" || a.header.Get(wire.HeaderRequest) == "" {
		v.t.Errorf("%s %s answers without %s or %s", r.Method, r.URL.Path, wire.HeaderVersion, wire.HeaderRequest)
	}
	o, ok := v.doc.Find(r.Method, r.URL.EscapedPath())
	if !ok {
		return
	}
	if err := o.CheckAnswer(a.status, a.header, raw); err != nil {
		v.t.Error(err)
	}
	if a.status == http.StatusOK {
		if err := o.CheckRequest(body); err != nil {
			v.t.Error(err)
		}
	}
	v.seen.add(o.String(), a)
}

// expect sends a request that has to be answered so: "200", "400 too_long".
func (v *visitor) expect(want string, r *http.Request) reply {
	v.t.Helper()
	a := v.do(r)
	if a.String() != want {
		v.t.Errorf("%s %.100s: %s %v, want %s", r.Method, r.URL.RequestURI(), a, a.body["error"], want)
	}
	return a
}

func (v *visitor) get(want, target string) reply {
	v.t.Helper()
	return v.expect(want, v.opened(http.MethodGet, target, ""))
}

func (v *visitor) post(want, target string, body any) reply {
	v.t.Helper()
	return v.expect(want, v.opened(http.MethodPost, target, text(body)))
}

func (v *visitor) call(want string, n *directorytest.Node, target string, body any) reply {
	v.t.Helper()
	return v.expect(want, v.signed(n, target, body))
}

// ready waits until the hub says that it can serve: its database may be slow to say so.
func (v *visitor) ready() {
	v.t.Helper()
	testkit.Until(v.t, "/readyz is 200", func() bool { return v.do(v.opened(http.MethodGet, "/readyz", "")).status == http.StatusOK })
}

// tagged asks twice, the second time with the tag of the first answer.
func (v *visitor) tagged(r *http.Request) {
	v.t.Helper()
	again := r.Clone(v.t.Context())
	if r.GetBody != nil {
		again.Body, _ = r.GetBody()
	}
	again.Header.Set("If-None-Match", v.expect("200", r).header.Get("ETag"))
	v.expect("304", again)
}

// until repeats a request until its rate is used up. The refusal names the rate
// and says twice, and alike, when to come back.
func (v *visitor) until(want string, request func() *http.Request) {
	v.t.Helper()
	for range 1000 {
		a := v.do(request())
		if a.String() != want {
			continue
		}
		left := fmt.Sprintf("%q;r=0;t=%s", a.code, a.header.Get("Retry-After"))
		if got := a.header.Get("RateLimit"); got != left || !strings.HasPrefix(a.header.Get("RateLimit-Policy"), strconv.Quote(a.code)) {
			v.t.Errorf("%s: RateLimit %s, want %s (%v)", want, got, left, a.header)
		}
		return
	}
	v.t.Errorf("a thousand requests were not answered %s", want)
}

// joined is an agent that is registered.
func (v *visitor) joined(name string) *directorytest.Node {
	v.t.Helper()
	n := v.agent()
	v.call("200", n, "/register", n.Register(name, "text.digest"))
	return n
}

// letter is the body of a send, sealed to somebody as far as a hub can tell.
func letter(to, sealedTo *directorytest.Node, size int) wire.Send {
	return wire.Send{ToAID: to.AID(), Envelope: envelope.Outer{
		To: sealedTo.AID(), Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: bytes.Repeat([]byte{7}, size),
	}.Bytes()}
}
