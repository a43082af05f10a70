// Package httpapi is the hub's HTTP face (wire 2, section I). It decodes a
// request, finds out who speaks, asks the rules and writes their answer; it
// holds no rule of its own.
//
// A handler returns an error instead of writing one: fail is the only place
// that turns a failure into an answer.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Signers finds the key history of an agent registered here.
type Signers interface {
	// SignerKEL gives the stored key history of a registered agent; a
	// NotFound error when the AID is not registered here, Forbidden when it, or
	// the address it asks from, is blocked.
	SignerKEL(ctx context.Context, v moderation.Visitor) ([]byte, error)
}

// HubKey is the hub's own identity.
type HubKey interface {
	// Current gives the identity, nil while there is none.
	Current() *identity.Controller
}

// Budget bounds the bytes of bodies and answers in flight.
type Budget interface {
	// Take reserves n bytes or fails with Unavailable; the caller gives them
	// back with the returned function, exactly once.
	Take(n int64) (release func(), err error)
}

// Check is one part of readiness.
type Check struct {
	Name string
	Ask  func(context.Context) error
}

// Deps is what the face stands on. All of it but Down is required.
type Deps struct {
	Signers Signers
	Key     HubKey
	Replays *identity.Cache
	Budget  Budget
	Checks  []Check
	Down    func(error) bool // whether a failure is that the database is away

	Remembers replay.Bounds // of signed requests
	Proxies   Proxies
	PublicURL string // where others reach this hub; empty: as each request says
	Version   string
	Log       *slog.Logger
	Metrics   prometheus.Registerer
	Gather    prometheus.Gatherer
	Now       func() time.Time
}

// API is the router with everything a handler needs.
type API struct {
	Deps
	mux     chi.Router
	metrics *metrics
	limits  wire.Limits
	closing chan struct{}
}

// Close lets probes that wait answer at once. It is called once.
func (a *API) Close() { close(a.closing) }

// Group is a set of routes that belong together.
type Group interface {
	routes(a *API, r chi.Router)
}

// New builds the handler of one hub process.
func New(d Deps, groups ...Group) *API {
	a := &API{Deps: d, closing: make(chan struct{}), metrics: newMetrics(d.Metrics)}
	d.Metrics.MustRegister(readiness{a})
	r := chi.NewRouter()
	r.Use(a.observe, cors, a.version, middleware.GetHead)
	r.NotFound(a.open(notFound))
	r.MethodNotAllowed(a.open(a.methodNotAllowed))
	r.Get("/healthz", a.open(a.healthz))
	r.Get("/readyz", a.open(a.readyz))
	r.Get("/metrics", a.scrape())
	r.Get("/hub/identity", a.open(a.identity))
	r.Post("/hub/probe", a.open(a.probe))
	r.Get("/openapi.yaml", a.open(document))
	r.Get("/limits", a.open(a.showLimits))
	for _, g := range groups {
		g.routes(a, r)
	}
	a.mux, a.limits = r, a.collect(groups)
	return a
}

// Walk calls see with every route there is.
func (a *API) Walk(see func(method, pattern string)) error {
	return chi.Walk(a.mux, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		see(method, pattern)
		return nil
	})
}

// ServeHTTP serves the hub API.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }
