package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/testkit/golden"
	"github.com/anet-hub/anet/shared/wire"
)

// town is a hub's directory behind its HTTP face, on a database of its own.
type town struct {
	t   testing.TB
	api *API
	hub *identity.Controller
	log *bytes.Buffer

	rules     *Directory
	credits   *ledger.Ledger
	pool      *pgxpool.Pool
	asked     *asked
	discovery *discovery
	peers     []peers.Face

	mu  sync.Mutex
	now time.Time
}

func newTown(t testing.TB) *town { return newTownOn(t, pgtest.New(t), admission.Door{}) }

// newTownOn is one more process on a database.
func newTownOn(t testing.TB, pool *pgxpool.Pool, door admission.Door) *town {
	t.Helper()
	w := &town{t: t, hub: directorytest.NewNodeFrom(t, stream("hub"), testNow).Key, log: &bytes.Buffer{}, now: testNow}
	silent, reg := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	memory := postgres.NewReplay(pool, replay.BoundsFor(20, 200), w.clock, silent)
	if err := memory.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, cache := &asked{Directory: postgres.NewDirectory(pool, memory)}, identity.NewCache(64<<20)
	w.pool, w.asked, w.discovery = pool, store, &discovery{}
	w.rules = &Directory{
		Rules:     directory.New(store, directorytest.Usual{}, door, cache.Replay, w.clock),
		Strangers: admission.NewLimiter(10, 20, "register_rate", w.clock),
		Members:   admission.NewLimiter(30, 30, "register_rate_agent", w.clock),
		Reviews:   reviews.New(postgres.NewReviews(pool), store, cache.Replay, w.clock),
		Reviewers: admission.NewLimiter(60, 60, "review_rate", w.clock),
	}
	w.credits = ledger.New(ledger.Deps{Store: postgres.NewLedger(pool, memory), Key: w, Peers: ledger.Alone{},
		Replay: cache.Replay, Grants: 100, Now: w.clock, Log: silent, Metrics: reg})
	w.api = New(Deps{
		Signers: store, Key: w, Replays: cache, Budget: budget.New(64 << 20), Version: "test",
		Log:     slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: reg, Gather: reg, Now: w.clock, PublicURL: "https://hub.example.org",
	}, w.rules, &Payments{Ledger: w.credits}, &Pages{Directory: w.rules, Peers: w}, &Streams{Feed: feed.New(postgres.NewFeed(pool), w.discovery)})
	return w
}

// asked counts how often what is on record of an AID was looked up.
type asked struct {
	*postgres.Directory
	standing atomic.Int64
}

func (a *asked) Standing(ctx context.Context, v moderation.Visitor) (directory.Standing, error) {
	a.standing.Add(1)
	return a.Directory.Standing(ctx, v)
}

func (w *town) Current() *identity.Controller { return w.hub }

func (w *town) Faces() []peers.Face { return w.peers }

func (w *town) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *town) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// stream is randomness that is the same in every run.
func stream(label string) io.Reader {
	return &labelled{label: label}
}

type labelled struct {
	label string
	n     int
	rest  []byte
}

func (l *labelled) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", l.label, l.n))
		l.n, l.rest = l.n+1, sum[:]
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (w *town) node(label string) *directorytest.Node {
	return directorytest.NewNodeFrom(w.t, stream(label), testNow)
}

// answer is what came back.
type answer struct {
	*http.Response
	raw  []byte
	body map[string]any
}

func (a answer) code() string {
	s, _ := a.body["code"].(string)
	return s
}

func (w *town) do(r *http.Request) answer {
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(&deadlines{rec}, r)
	a := answer{Response: rec.Result()}
	a.raw, _ = io.ReadAll(a.Body)
	_ = json.Unmarshal(a.raw, &a.body)
	documented(w.t, r, a.StatusCode, a.Header, a.raw)
	return a
}

func (w *town) get(target string) answer {
	return w.do(httptest.NewRequest(http.MethodGet, target, nil))
}

func (w *town) post(target, body string) answer {
	return w.do(httptest.NewRequest(http.MethodPost, target, strings.NewReader(body)))
}

// signed makes a request as a correct node does; a later one has a later time.
func (w *town) signed(n *directorytest.Node, action, target string, body any) *http.Request {
	raw, ok := body.([]byte)
	if !ok {
		raw, _ = json.Marshal(body)
	}
	w.advance(time.Millisecond)
	r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(raw))
	relayauth.Sign(n.Key, action, w.hub.AID(), r, raw, uint64(w.clock().UnixMilli()))
	return r
}

func (w *town) call(n *directorytest.Node, action, target string, body any) answer {
	return w.do(w.signed(n, action, target, body))
}

func (w *town) register(n *directorytest.Node, r wire.Register) answer {
	return w.call(n, wire.ActionRegister, "/register", r)
}

func (w *town) mustRegister(n *directorytest.Node, r wire.Register) {
	w.t.Helper()
	if a := w.register(n, r); a.StatusCode != http.StatusOK {
		w.t.Fatalf("register: %d %s", a.StatusCode, a.raw)
	}
}

// aids reads the agents of a list.
func aids(a answer) (out []string) {
	for _, v := range a.body["agents"].([]any) {
		out = append(out, v.(map[string]any)["aid"].(string))
	}
	return out
}

// The answers as others see them, written down.
func TestDirectoryTranscript(t *testing.T) {
	w := newTown(t)
	alice, bob := w.node("alice"), w.node("bob")
	r := alice.Register("alice", "text.digest", "digest", "x*")
	r.Summary, r.Readme, r.Pricing = "digests & more", "# How", "free"
	r.A2ACard = alice.Card(1, testNow, "Alice's digester", "text.digest", "text.wordcount")
	var out bytes.Buffer
	show := func(r *http.Request) {
		a := w.do(r)
		fmt.Fprintf(&out, "> %s %s\n< %d %s\n%s\n\n", r.Method, r.RequestURI, a.StatusCode, a.Header.Get("Content-Type"), bytes.TrimSpace(a.raw))
	}
	get := func(target string) { show(httptest.NewRequest(http.MethodGet, target, nil)) }
	show(w.signed(alice, wire.ActionRegister, "/register", r))
	show(w.signed(alice, wire.ActionRegister, "/register", r))
	show(w.signed(bob, wire.ActionRegister, "/register", bob.Register("bob", "text.digest")))
	show(w.signed(bob, wire.ActionProfile, "/profile", wire.Profile{Summary: "me too"}))
	show(w.signed(bob, wire.ActionVisibility, "/agents/"+bob.AID()+"/visibility", wire.Visibility{Visibility: "public"}))
	show(w.signed(bob, wire.ActionP2P, "/agents/"+bob.AID()+"/p2p", wire.P2P{Addr: "tcp://192.0.2.7:4000"}))
	for _, target := range []string{
		"/agents?cap=text.*", "/agents?cap=text.digest&limit=1", "/agents?cap=nobody.serves.this", "/agents?q=MORE",
		"/agents?cap=", "/agents?limit=0", "/agents/" + alice.AID(), "/agents/" + alice.AID() + "/kel",
		"/agents/" + alice.AID() + "/jwks.json", "/agents/" + w.hub.AID() + "/kel", "/agents/" + bob.AID() + "/p2p",
		"/agents/" + bob.AID() + "/keys", "/a2a/v1/agents?skill=text.digest", "/a2a/v1/agents/" + alice.AID() + "/card",
		"/graph?limit=1", "/stats", "/p2p/peers",
	} {
		get(target)
	}
	receipt, review := reviewtest.DoneAs("ix_one", bob.Key, alice.Key, 4, testNow).Sign(t)
	said, _ := json.Marshal(wire.SubmitReview{Receipt: receipt, Review: review})
	show(httptest.NewRequest(http.MethodPost, "/reviews", bytes.NewReader(said)))
	for _, target := range []string{"/agents?cap=text.digest&limit=1", "/agents/" + bob.AID(), "/agents/" + bob.AID() + "/reputation", "/graph", "/stats"} {
		get(target)
	}
	show(w.signed(bob, wire.ActionDeregister, "/agents/"+bob.AID()+"/deregister", struct{}{}))
	get("/agents/" + bob.AID())
	get("/agents/" + bob.AID() + "/kel")
	masked := regexp.MustCompile(`"request_id":"[0-9a-f]+"`).ReplaceAll(out.Bytes(), []byte(`"request_id":"…"`))
	golden.Equal(t, "testdata/directory.txt", masked)
}

// Number 39: what is checked, in the order of I.3; the later fault is never seen.
func TestRegisterChecksInOrder(t *testing.T) {
	type change struct {
		body    func(n *directorytest.Node, r *wire.Register)
		request func(w *town, r *http.Request)
	}
	tests := []struct {
		why    string
		change change
		status int
		code   string
		field  string
	}{
		{"all is well", change{}, 200, "", ""},
		{"no headers", change{request: func(_ *town, r *http.Request) { r.Header.Del(wire.HeaderSig) }}, 401, "bad_auth_headers", ""},
		{"no aid", change{body: func(_ *directorytest.Node, r *wire.Register) { r.AID = "" }}, 400, "aid_missing", "aid"},
		{"no kel", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = nil }}, 400, "kel_missing", "kel"},
		{"another agent than the signer, before anything that is said of it", change{body: func(_ *directorytest.Node, r *wire.Register) {
			r.AID, r.KEL, r.Caps = directorytest.NewNode(t, testNow).AID(), []byte("x"), make([]string, 257)
		}}, 401, "not_the_owner", "aid"},
		{"too many ids", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = make([]string, 257) }}, 400, "too_many_caps", "caps"},
		{"an id too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = []string{strings.Repeat("a", 257)} }}, 400, "too_long", "caps"},
		{"a zero byte in an id", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = []string{"a\x00b"} }}, 400, "zero_byte", "caps"},
		{"a zero byte in the name", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Name = "a\x00b" }}, 400, "zero_byte", "name"},
		{"a name too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Name = strings.Repeat("a", 129) }}, 400, "too_long", "name"},
		{"a summary too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Summary = strings.Repeat("a", 513) }}, 400, "too_long", "summary"},
		{"a price list too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Pricing = strings.Repeat("a", 1025) }}, 400, "too_long", "pricing"},
		{"a readme too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Readme = strings.Repeat("a", 16<<10+1) }}, 400, "too_long", "readme"},
		{"a history too large", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = make([]byte, 65_537) }}, 400, "kel_too_large", "kel"},
		{"no history", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = []byte("x") }}, 400, "kel_invalid", "kel"},
		{"another agent's history", change{body: func(n *directorytest.Node, r *wire.Register) {
			r.KEL = directorytest.NewNode(t, testNow).Key.KEL()
		}}, 400, "kel_invalid", "kel"},
		{"a history with a broken signature", change{body: func(n *directorytest.Node, r *wire.Register) {
			n.Rotate(testNow)
			r.KEL = bytes.Clone(n.Key.KEL())
			r.KEL[bytes.Index(r.KEL, []byte{0x02, 0x58, 0x40})+20] ^= 1 // in the first event
		}}, 400, "kel_invalid", "kel"},
		{"a signature over another body", change{request: func(_ *town, r *http.Request) { r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86)) }}, 401, "bad_signature", ""},
		{"a bad older card", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Card = wire.RawJSON(`{}`) }}, 400, "card_refused", "card"},
		{"a bad key set fails nothing", change{body: func(_ *directorytest.Node, r *wire.Register) { r.EncKeys = []byte("x") }}, 200, "", ""},
		{"a bad card fails nothing", change{body: func(_ *directorytest.Node, r *wire.Register) { r.A2ACard = wire.RawJSON(`{"name":1,"NAME":2}`) }}, 200, "", ""},
	}
	w := newTown(t)
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w.advance(time.Minute) // the limiter gets its tokens back
			n := w.node(tt.why)
			body := n.Register("alice", "text.digest")
			if tt.change.body != nil {
				tt.change.body(n, &body)
			}
			r := w.signed(n, wire.ActionRegister, "/register", body)
			if tt.change.request != nil {
				tt.change.request(w, r)
			}
			a := w.do(r)
			if field, _ := a.body["field"].(string); a.StatusCode != tt.status || a.code() != tt.code || field != tt.field {
				t.Errorf("%d %s, want %d %s in %q", a.StatusCode, a.raw, tt.status, tt.code, tt.field)
			}
		})
	}
}

func TestAmbiguousRegistrationsAreRefused(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	good, _ := json.Marshal(n.Register("alice", "x"))
	for why, body := range map[string]string{
		"a member twice":          strings.Replace(string(good), `{`, `{"name":"eve",`, 1),
		"a case twin":             strings.Replace(string(good), `{`, `{"NAME":"eve",`, 1),
		"a case twin of the card": strings.Replace(string(good), `{`, `{"a2a_card":null,"A2A_Card":{},`, 1),
		"the card twice":          strings.Replace(string(good), `{`, `{"a2a_card":null,"a2a_card":{},`, 1),
		"bad UTF-8":               strings.Replace(string(good), "alice", "ali\xffce", 1),
		"nested too deep":         strings.Replace(string(good), `{`, `{"z":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`,`, 1),
		"a huge number":           strings.Replace(string(good), `"alice"`, `1e999`, 1),
		"kel is no base64":        strings.Replace(string(good), `"kel":"`, `"kel":"!`, 1),
		"cut short":               string(good[:len(good)-2]),
		"no object":               `[]`,
	} {
		if a := w.call(n, wire.ActionRegister, "/register", []byte(body)); a.StatusCode != 400 || a.code() != "malformed_json" {
			t.Errorf("%s: %d %s", why, a.StatusCode, a.raw)
		}
	}
	if a := w.get("/agents/" + n.AID()); a.StatusCode != 404 {
		t.Errorf("something was stored: %s", a.raw)
	}
}

// What is listed is what was declared; an exact question never turns into
// a text search.
func TestExactNeverBecomesFuzzy(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "digest")
	r.A2ACard = n.Card(1, testNow, "alice", "text.digest")
	w.mustRegister(n, r)
	for query, want := range map[string]int{
		"cap=digest": 1, "cap=text.digest": 1, "q=digest": 1, "q=DIGEST": 1, "cap=text.*": 1, "cap=*": 1,
		"cap=TEXT.DIGEST": 0, "cap=dig": 0, "cap=text": 0, "cap=text.dig": 0, "cap=text.digest%20": 1, "cap=,text.digest,,": 1,
		"cap=nobody&q=digest": 0,
	} {
		a := w.get("/agents?" + query)
		if a.StatusCode != 200 || len(aids(a)) != want {
			t.Errorf("%s: %d %s, want %d agents", query, a.StatusCode, a.raw, want)
		}
	}
	if a := w.get("/agents?cap=nobody"); string(a.raw) != `{"agents":[],"limit":1000}`+"\n" {
		t.Errorf("nobody serves it: %s", a.raw)
	}
}

// What cannot be answered is refused, never answered with page one.
func TestBrokenQuestionsAreRefused(t *testing.T) {
	w := newTown(t)
	for i := range 3 {
		n := w.node(fmt.Sprint("n", i))
		w.mustRegister(n, n.Register("n", "x.y", "z.a"))
	}
	next := w.get("/agents?cap=x.y&limit=2").body["next_cursor"].(string)
	cards := func(q string) string { return "/a2a/v1/agents?" + q }
	list := func(q string) string { return "/agents?" + q }
	for _, c := range []struct{ target, field string }{
		{list("cap="), "cap"}, {list("cap=,%20,"), "cap"}, {list("cap=*x"), "cap"}, {list("cap=a*c"), "cap"}, {list("cap=a%00*"), "cap"},
		{list("cap=a%ff"), "cap"}, {list("q=%00"), "q"}, {list("q=%ff"), "q"}, {list("q=" + strings.Repeat("a", 257)), "q"},
		{list("limit=0"), "limit"}, {list("limit=-1"), "limit"}, {list("limit=abc"), "limit"}, {list("limit="), "limit"},
		{list("cap=x.y&cursor=bogus"), "cursor"}, {list("cap=x.y&cursor=" + next[:len(next)-1]), "cursor"},
		{list("cap=z.*&cursor=" + next), "cursor"}, {list("cursor=" + next), "cursor"}, {list("q=%zz"), "query"},
		{cards("skill="), "skill"}, {cards("tag="), "tag"}, {cards("skill=%00"), "skill"}, {cards("q=" + strings.Repeat("a", 257)), "q"},
		{cards("limit=0"), "limit"}, {cards("limit=x"), "limit"}, {cards("cursor=bogus"), "cursor"}, {cards("cursor=AA"), "cursor"},
		{"/graph?limit=0", "limit"}, {"/graph?cursor=x", "cursor"},
	} {
		a := w.get(c.target)
		if a.StatusCode != 400 || a.body["field"] != c.field || a.code() == "" {
			t.Errorf("%s: %d %s, want 400 for %s", c.target, a.StatusCode, a.raw, c.field)
		}
	}
	if a := w.get("/agents?limit=1000000"); a.StatusCode != 200 || a.body["limit"] != 1000.0 {
		t.Errorf("an over-large limit: %d %s", a.StatusCode, a.raw)
	}
	if a := w.get("/a2a/v1/agents?limit=1000"); a.StatusCode != 200 || a.body["limit"] != 200.0 {
		t.Errorf("an over-large limit of cards: %d %s", a.StatusCode, a.raw)
	}
	if a := w.get("/agents?cap=x.y&cursor=" + next); len(aids(a)) != 1 || a.body["next_cursor"] != nil {
		t.Errorf("the second page: %s", a.raw)
	}
}

// A zero byte is the same mistake in path, query and body.
func TestZeroBytesAreRefusedEverywhere(t *testing.T) {
	w := newTown(t)
	for target, field := range map[string]string{
		"/agents/%00": "aid", "/agents/a%00b/kel": "aid", "/agents/%ff/keys": "aid", "/agents/%00/card": "aid",
		"/agents/%00/p2p": "aid", "/agents/%00/jwks.json": "aid", "/a2a/v1/agents/%00/card": "aid",
		"/agents?q=%00": "q", "/agents?cap=a%00": "cap",
	} {
		if a := w.get(target); a.StatusCode != 400 || a.body["field"] != field {
			t.Errorf("GET %s: %d %s, want 400 for %s", target, a.StatusCode, a.raw, field)
		}
	}
	for _, target := range []string{"/agents/keys:lookup", "/agents/kel:lookup", "/a2a/v1/agents/card:lookup"} {
		for _, body := range []string{`{"aid":"a\u0000b"}`, `{"aid":""}`, `{}`} {
			if a := w.post(target, body); a.StatusCode != 400 || a.body["field"] != "aid" {
				t.Errorf("POST %s %s: %d %s, want 400 for aid", target, body, a.StatusCode, a.raw)
			}
		}
	}
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	for _, c := range []struct {
		action, target string
		body           any
		field          string
	}{
		{wire.ActionProfile, "/profile", wire.Profile{Summary: "a\x00"}, "summary"},
		{wire.ActionP2P, "/agents/" + n.AID() + "/p2p", wire.P2P{Addr: "a\x00"}, "addr"},
		{wire.ActionVisibility, "/agents/" + n.AID() + "/visibility", wire.Visibility{Visibility: "a\x00"}, "visibility"},
	} {
		if a := w.call(n, c.action, c.target, c.body); a.StatusCode != 400 || a.body["field"] != c.field {
			t.Errorf("%s: %d %s, want 400 for %s", c.target, a.StatusCode, a.raw, c.field)
		}
	}
	r := w.signed(n, wire.ActionProfile, "/profile", wire.Profile{})
	r.Header.Set(wire.HeaderAID, "a\x00b")
	if a := w.do(r); a.StatusCode != 401 {
		t.Errorf("a zero byte in a header: %d %s", a.StatusCode, a.raw)
	}
}

// A host of a hundred known nodes may restart at once; strangers
// and bad signatures pay by address.
func TestWhoIsKnownIsNotLimitedByAddress(t *testing.T) {
	w := newTown(t)
	nodes := make([]*directorytest.Node, 100)
	for i := range nodes {
		nodes[i] = w.node(fmt.Sprint("n", i))
		r := nodes[i].Register("n", "x")
		if a := w.register(nodes[i], r); a.StatusCode == 429 {
			w.advance(time.Minute)
			w.mustRegister(nodes[i], r)
		}
	}
	w.advance(time.Hour)
	for i, n := range nodes {
		if a := w.register(n, n.Register(fmt.Sprint("changed", i%2*i), "x")); a.StatusCode != 200 {
			t.Fatalf("restart of node %d: %d %s", i, a.StatusCode, a.raw)
		}
	}
	refused := 0
	for i := range 40 {
		n := w.node(fmt.Sprint("stranger", i))
		a := w.register(n, n.Register("n", "x"))
		if a.StatusCode == 429 {
			refused++
			if a.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		}
	}
	if refused != 20 {
		t.Errorf("%d of 40 strangers were refused, want 20 beyond the burst", refused)
	}
	forged := w.signed(nodes[0], wire.ActionRegister, "/register", nodes[0].Register("n", "x"))
	forged.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
	if a := w.do(forged); a.StatusCode != 429 {
		t.Errorf("a forgery from a spent address: %d %s, want 429", a.StatusCode, a.raw)
	}
	if a := w.register(nodes[1], nodes[1].Register("again", "x")); a.StatusCode != 200 {
		t.Errorf("a known node behind that address: %d %s", a.StatusCode, a.raw)
	}
}

// Whoever names a known agent without proving to be it pays by address, whatever
// the request is refused for.
func TestRefusalsBeforeTheSignatureCountAgainstTheAddress(t *testing.T) {
	broken := func(cut func(*http.Request)) func(w *town, n *directorytest.Node) *http.Request {
		return func(w *town, n *directorytest.Node) *http.Request {
			r := w.signed(n, wire.ActionRegister, "/register", n.Register("alice", "x"))
			cut(r)
			return r
		}
	}
	body := func(raw []byte) func(*town, *directorytest.Node) *http.Request {
		return func(w *town, n *directorytest.Node) *http.Request {
			return w.signed(n, wire.ActionRegister, "/register", raw)
		}
	}
	tests := []struct {
		why     string
		request func(w *town, n *directorytest.Node) *http.Request
		status  int
	}{
		{"no JSON", body([]byte("{")), 400},
		{"nothing named", body([]byte("{}")), 400},
		{"another agent named", func(w *town, n *directorytest.Node) *http.Request {
			return w.signed(n, wire.ActionRegister, "/register", w.node("bob").Register("bob", "x"))
		}, 401},
		{"too large, as announced", body(make([]byte, maxSignedBody+1)), 413},
		{"too large, as it turns out", broken(func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, maxSignedBody+1))), -1
		}), 413},
		{"cut off on its way", broken(func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)) }), 400},
		{"an old date", broken(func(r *http.Request) { r.Header.Set(wire.HeaderTime, "1") }), 401},
		{"another key's signature", broken(func(r *http.Request) { r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86)) }), 401},
	}
	w := newTown(t)
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w.advance(time.Hour) // the address gets its twenty back
			n := w.node(tt.why)
			w.mustRegister(n, n.Register("alice", "x")) // one of them
			statuses := map[int]int{}
			for range 30 {
				statuses[w.do(tt.request(w, n)).StatusCode]++
			}
			if statuses[tt.status] != 19 || statuses[429] != 11 {
				t.Errorf("statuses %v, want 19 times %d and then 429", statuses, tt.status)
			}
			if a := w.register(n, n.Register("alice", "y")); a.StatusCode != 200 {
				t.Errorf("the agent itself: %d %s", a.StatusCode, a.raw)
			}
		})
	}
}

func TestOneAgentIsLimitedByItself(t *testing.T) {
	w := newTown(t)
	n, other := w.node("alice"), w.node("bob")
	w.mustRegister(other, other.Register("bob", "x"))
	limited := false
	for i := range 40 {
		limited = limited || w.register(n, n.Register(fmt.Sprint("n", i), "x")).StatusCode == 429
	}
	if !limited {
		t.Error("forty registrations in a moment were all taken")
	}
	if a := w.register(other, other.Register("bob", "x")); a.StatusCode != 200 {
		t.Errorf("another agent pays for it: %d %s", a.StatusCode, a.raw)
	}
}

func TestAnUnchangedRegistrationIsToldSo(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "a", "b", "no,")
	r.EncKeys = n.Keyset(testNow, false)
	w.mustRegister(n, r)
	a := w.register(n, r)
	want := `{"aid":"` + n.AID() + `","status":"registered","keys_status":"unchanged","card_status":"absent","added":0,"removed":0,"unchanged":2,"ignored_caps":["no,"]}`
	if string(a.raw) != want {
		t.Errorf("told %s, want %s", a.raw, want)
	}
	again := w.signed(n, wire.ActionRegister, "/register", r)
	body, _ := io.ReadAll(again.Body)
	for i, status := range []int{200, 401} {
		again.Body = io.NopCloser(bytes.NewReader(body))
		if a := w.do(again); a.StatusCode != status {
			t.Errorf("signature used %d times: %d %s", i+1, a.StatusCode, a.raw)
		}
	}
}

// A captured registration, sent again and again, must not use up the limit of
// the agent that signed it.
func TestReplaysCountAgainstTheAddress(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	captured := w.signed(n, wire.ActionRegister, "/register", n.Register("alice", "x"))
	body, _ := io.ReadAll(captured.Body)
	statuses := map[int]int{}
	for range 60 {
		captured.Body = io.NopCloser(bytes.NewReader(body))
		statuses[w.do(captured).StatusCode]++
	}
	if statuses[200] != 1 || statuses[401] != 19 || statuses[429] != 40 {
		t.Errorf("statuses %v, want one 200, 19 times 401 and then 429", statuses)
	}
	if a := w.register(n, n.Register("alice", "y")); a.StatusCode != 200 {
		t.Errorf("the agent itself: %d %s", a.StatusCode, a.raw)
	}
}

// Number 38: caches may ask whether a card or a key set changed.
func TestTaggedDocuments(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "x")
	r.A2ACard, r.Card = n.Card(1, testNow, "alice", "text.digest"), n.ADPCard(1, testNow)
	w.mustRegister(n, r)
	for target, contentType := range map[string]string{
		"/agents/" + n.AID() + "/jwks.json":   "application/jwk-set+json",
		"/agents/" + n.AID() + "/card":        "application/json",
		"/a2a/v1/agents/" + n.AID() + "/card": "application/json",
	} {
		a := w.get(target)
		tag := a.Header.Get("ETag")
		if want := fmt.Sprintf(`"%x"`, sha256.Sum256(a.raw)); tag != want || a.Header.Get("Content-Type") != contentType {
			t.Errorf("%s: ETag %s, %s", target, tag, a.Header.Get("Content-Type"))
		}
		for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.Header.Set("If-None-Match", match)
			b := w.do(r)
			if b.StatusCode != status || status == 304 && (len(b.raw) > 0 || b.Header.Get("ETag") != tag) {
				t.Errorf("%s If-None-Match %s: %d with %d bytes, want %d", target, match, b.StatusCode, len(b.raw), status)
			}
		}
	}
	if a := w.get("/a2a/v1/agents/" + n.AID() + "/card"); !bytes.Equal(a.raw, r.A2ACard) {
		t.Error("the card is not served byte for byte")
	}
}

// Number 46: no request line has to name an AID, and no log line does.
func TestLookupsByBodyEqualTheGets(t *testing.T) {
	w := newTown(t)
	n, gone := w.node("alice"), w.node("bob")
	r := n.Register("alice", "x")
	r.A2ACard, r.EncKeys = n.Card(1, testNow, "alice", "text.digest"), n.Keyset(testNow, false)
	w.mustRegister(n, r)
	for _, c := range []struct{ get, post string }{
		{"/agents/%s/keys", "/agents/keys:lookup"}, {"/agents/%s/kel", "/agents/kel:lookup"},
		{"/a2a/v1/agents/%s/card", "/a2a/v1/agents/card:lookup"},
	} {
		for _, aid := range []string{n.AID(), gone.AID(), w.hub.AID()} {
			a := w.get(fmt.Sprintf(c.get, aid))
			b := w.post(c.post, `{"aid":"`+aid+`"}`)
			mask := regexp.MustCompile(`"request_id":"[^"]*"`)
			if a.StatusCode != b.StatusCode || !bytes.Equal(mask.ReplaceAll(a.raw, nil), mask.ReplaceAll(b.raw, nil)) {
				t.Errorf("%s: GET %d %s, POST %d %s", c.post, a.StatusCode, a.raw, b.StatusCode, b.raw)
			}
		}
		if b := w.post(c.post, `{"aid":"`+strings.Repeat("a", 5000)+`"}`); b.StatusCode != 413 {
			t.Errorf("%s with 5000 bytes: %d", c.post, b.StatusCode)
		}
	}
	for _, aid := range []string{n.AID(), gone.AID()} {
		if strings.Contains(w.log.String(), aid) {
			t.Error("the log names an AID")
		}
	}
}

func TestOwnersOnly(t *testing.T) {
	w := newTown(t)
	n, eve := w.node("alice"), w.node("eve")
	w.mustRegister(n, n.Register("alice", "x"))
	w.mustRegister(eve, eve.Register("eve", "x"))
	for action, path := range map[string]string{
		wire.ActionVisibility: "/visibility", wire.ActionDeregister: "/deregister", wire.ActionKeys: "/keys", wire.ActionP2P: "/p2p",
	} {
		if a := w.call(eve, action, "/agents/"+n.AID()+path, struct{}{}); a.StatusCode != 401 {
			t.Errorf("eve at %s: %d %s, want 401", path, a.StatusCode, a.raw)
		}
		if a := w.call(n, wire.ActionPoll, "/agents/"+n.AID()+path, struct{}{}); a.StatusCode != 401 {
			t.Errorf("a signature for another action at %s: %d, want 401", path, a.StatusCode)
		}
	}
	if a := w.call(eve, wire.ActionProfile, "/profile", wire.Profile{AID: n.AID(), Summary: "mine"}); a.StatusCode != 401 {
		t.Errorf("eve's profile of alice: %d %s, want 401", a.StatusCode, a.raw)
	}
	stranger := w.node("stranger")
	if a := w.call(stranger, wire.ActionVisibility, "/agents/"+stranger.AID()+"/visibility", struct{}{}); a.StatusCode != 404 {
		t.Errorf("visibility of an unknown agent: %d, want 404 before any check", a.StatusCode)
	}
	if a := w.call(n, wire.ActionVisibility, "/agents/"+n.AID()+"/visibility", wire.Visibility{Visibility: "secret"}); a.StatusCode != 400 {
		t.Errorf("a visibility there is not: %d, want 400", a.StatusCode)
	}
}

func TestKeyPublication(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	first := n.Keyset(testNow, false)
	second := n.Keyset(testNow.Add(time.Minute), true)
	path := "/agents/" + n.AID() + "/keys"
	for _, c := range []struct {
		why    string
		raw    []byte
		status int
		answer string
	}{
		{"the first", first, 200, `{"aid":"` + n.AID() + `","keys_status":"ok"}`},
		{"again", first, 200, `{"aid":"` + n.AID() + `","keys_status":"unchanged"}`},
		{"a newer one", second, 200, `{"aid":"` + n.AID() + `","keys_status":"ok"}`},
		{"a rollback", first, 409, ""}, {"no key set", []byte("x"), 400, ""}, {"nothing", nil, 400, ""},
	} {
		a := w.call(n, wire.ActionKeys, path, wire.Keyset{Keyset: c.raw})
		if a.StatusCode != c.status || c.answer != "" && strings.TrimSpace(string(a.raw)) != c.answer {
			t.Errorf("%s: %d %s, want %d %s", c.why, a.StatusCode, a.raw, c.status, c.answer)
		}
	}
}

func TestPagesOverHTTP(t *testing.T) {
	w := newTown(t)
	for i := range 20 {
		n := w.node(fmt.Sprint("n", i))
		w.mustRegister(n, n.Register("n", "x.y"))
	}
	var all []string
	for cursor := ""; ; {
		a := w.get("/agents?cap=x.*&limit=7&cursor=" + url.QueryEscape(cursor))
		if a.StatusCode != 200 || a.body["limit"] != 7.0 {
			t.Fatalf("%d %s", a.StatusCode, a.raw)
		}
		all = append(all, aids(a)...)
		next, more := a.body["next_cursor"].(string)
		if cursor = next; !more {
			break
		}
	}
	slices.Sort(all)
	if len(all) != 20 || len(slices.Compact(all)) != 20 {
		t.Errorf("%d agents on the pages, want 20", len(all))
	}
}

// Whatever the body, finding the card in it neither fails nor changes the rest.
func FuzzRegistrationBody(f *testing.F) {
	f.Add([]byte(`{"aid":"b","a2a_card":{"a":[1,"}"]},"name":"n"}`))
	f.Add([]byte(`{"a2a_card":null}`))
	f.Add([]byte(`{"a2a_card":{"a":1,"a":2}}`))
	f.Add([]byte(`{"a2a_card":`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var around, plain wire.Register
		if decodeAround(body, "a2a_card", &around, &around.A2ACard) != nil {
			return
		}
		if decode(body, &plain) == nil && (plain.AID != around.AID || !bytes.Equal(plain.A2ACard, around.A2ACard)) {
			t.Fatalf("%q reads as %+v around its card and as %+v whole", body, around, plain)
		}
	})
}
