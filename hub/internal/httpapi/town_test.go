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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
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
	w.credits = ledger.New(ledger.Deps{Store: postgres.NewLedger(pool, memory), Key: w, Peers: ledgertest.Alone{},
		Replay: cache.Replay, Grants: 100, Now: w.clock, Log: silent, Metrics: reg,
		Payers: admission.NewLimiter(300, 600, "settle_rate", w.clock), Bearers: admission.NewLimiter(3000, 600, "payment_rate", w.clock),
		Askers: admission.NewLimiter(60, 30, "settle_abroad_rate", w.clock), Asked: admission.NewLimiter(600, 200, "settle_peer_rate", w.clock)})
	w.api = New(Deps{
		Signers: store, Key: w, Replays: cache, Budget: budget.New(64 << 20), Version: "test",
		Log:     slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: reg, Gather: reg, Now: w.clock, PublicURL: "https://hub.example.org",
	}, w.rules, &Payments{Ledger: w.credits}, &Pages{Directory: w.rules, Peers: w}, &Streams{
		Feed: feed.New(postgres.NewFeed(pool), w.discovery), Rate: admission.NewLimiter(600, 100, "stream_rate", w.clock),
	})
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
