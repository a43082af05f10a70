package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// post is one hub process that serves mailboxes over HTTP.
type post struct {
	t     testing.TB
	hub   *identity.Controller
	board *wake.Board
	mail  *relay.Relay
	face  *API
	srv   *httptest.Server
	db    *pgxpool.Pool

	shutEyes func() // ends looking for mail that nobody tells of

	mu sync.Mutex
	ts uint64 // of the last request: each is signed in a millisecond of its own
}

// terms are what an operator sets.
type terms struct {
	relay.Limits
	perMinute float64
	burst     int
}

func usual() terms {
	return terms{relay.Limits{
		Envelope: 4 << 20, Messages: 1000, Bytes: 1 << 30, Total: 1 << 40, PollBudget: 3 << 20, TTL: time.Hour,
	}, 20 * 60, 200}
}

func newPost(t testing.TB, url string, hub *identity.Controller, agents ...*identity.Controller) *post {
	t.Helper()
	return newPostOn(t, usual(), url, hub, agents...)
}

// newPostOn starts a process on the database. The agents are registered there.
func newPostOn(t testing.TB, on terms, url string, hub *identity.Controller, agents ...*identity.Controller) *post {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	proofs := postgres.NewReplay(db.Pool, replay.BoundsFor(20, 200), time.Now, log)
	store := postgres.NewRelay(db.Pool, proofs)
	bus := postgres.NewBus(db.Direct, db.Pool)
	p := &post{t: t, hub: hub, board: wake.NewBoard(store, bus, log), db: db.Pool}
	p.mail = relay.New(relay.Deps{
		Store: store, Board: p.board, Senders: admission.NewLimiter(on.perMinute, on.burst, "send_rate", time.Now),
		Seen: directorytest.Usual{}, Limits: on.Limits, Now: time.Now, Log: log, Metrics: prometheus.NewRegistry(),
	})
	for _, c := range agents {
		p.enroll(c)
	}
	p.serve(proofs)
	p.shutEyes = p.run(func(ctx context.Context) { _ = p.board.Run(ctx); bus.Close() })
	return p
}

// serve serves the mailboxes, and more.
func (p *post) serve(proofs *postgres.Replay, more ...Group) {
	reg := prometheus.NewRegistry()
	p.face = New(Deps{
		Signers: postgres.NewDirectory(p.db, proofs), Key: p, Replays: identity.NewCache(1 << 20), Budget: budget.New(64 << 20),
		Log: slog.New(slog.DiscardHandler), Metrics: reg, Gather: reg, Now: time.Now,
	}, append(more, &Mail{p.mail})...)
	p.srv = httptest.NewServer(p.face)
	p.t.Cleanup(func() { p.board.Close(); p.srv.Close() })
}

// run gives a way to end the loop before the test does.
func (p *post) run(loop func(context.Context)) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { loop(ctx) })
	end = func() { stop(); wg.Wait() }
	p.t.Cleanup(end)
	return end
}

func (p *post) Current() *identity.Controller { return p.hub }

// enroll does what a registration does, as far as mailboxes are concerned.
func (p *post) enroll(c *identity.Controller) {
	p.t.Helper()
	for _, sql := range []string{
		`INSERT INTO member (aid, kel, first_seen_at) VALUES (@aid, @kel, @now) ON CONFLICT (aid) DO UPDATE SET kel = EXCLUDED.kel`,
		`INSERT INTO agent (aid, name, tags, registered_at, listed, view, search) VALUES (@aid, '', '{}', @now, false, '', '') ON CONFLICT DO NOTHING`,
		`INSERT INTO mailbox (aid, is_open, last_id) VALUES (@aid, true, 0) ON CONFLICT DO NOTHING`,
	} {
		p.exec(sql, pgx.NamedArgs{"aid": c.AID(), "kel": c.KEL(), "now": time.Now()})
	}
}

func (p *post) exec(sql string, args ...any) {
	p.t.Helper()
	if _, err := p.db.Exec(p.t.Context(), sql, args...); err != nil {
		p.t.Fatal(err)
	}
}

// next is the time, and a millisecond nobody signed in before.
func (p *post) next() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ts = max(p.ts+1, uint64(time.Now().UnixMilli()))
	return p.ts
}

// request is signed the way a node signs it.
func (p *post) request(as *identity.Controller, action, body string) *http.Request {
	ts := p.next()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.srv.URL+"/relay/"+action, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	relayauth.Sign(as, action, p.hub.AID(), r, []byte(body), ts)
	return r
}

func (p *post) do(r *http.Request) (int, string) {
	p.t.Helper()
	resp, err := p.srv.Client().Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	documented(p.t, r, resp.StatusCode, resp.Header, body)
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func (p *post) ask(as *identity.Controller, action, body string) (int, string) {
	p.t.Helper()
	return p.do(p.request(as, action, body))
}

func (p *post) send(from, to *identity.Controller, env []byte) wire.Sent {
	p.t.Helper()
	body, _ := json.Marshal(wire.Send{ToAID: to.AID(), Envelope: env})
	status, answer := p.ask(from, "send", string(body))
	if status != 200 {
		p.t.Fatalf("send: %d %s", status, answer)
	}
	return read[wire.Sent](p.t, answer)
}

func (p *post) poll(as *identity.Controller, body string) wire.Polled {
	p.t.Helper()
	status, answer := p.ask(as, "poll", body)
	if status != 200 {
		p.t.Fatalf("poll: %d %s", status, answer)
	}
	return read[wire.Polled](p.t, answer)
}

func read[T any](t testing.TB, answer string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.200s", err, answer)
	}
	return v
}

func envelopeFor(to *identity.Controller, size int) []byte {
	return envelope.Outer{To: to.AID(), Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: bytes.Repeat([]byte{7}, size)}.Bytes()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
