package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

type requestKey struct{}

// requestID is the id of the request the context belongs to.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// observe gives the request its id and its deadlines, counts it, and turns a
// panic into an answer. Nothing here names an AID, a path or an address: routes only.
func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.Now()
		limitTime(w, r)
		id := newRequestID()
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		w.Header().Set(wire.HeaderRequest, id)
		w.Header().Set(wire.HeaderVersion, strconv.Itoa(wire.Version))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			a.recovered(ww, r, recover())
			a.finish(r, ww.Status(), a.Now().Sub(start))
		}()
		next.ServeHTTP(ww, r)
	})
}

// recovered answers for a handler that panicked. ErrAbortHandler is how a
// handler hangs up on purpose and goes on to the server.
func (a *API) recovered(w http.ResponseWriter, r *http.Request, p any) {
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	a.Log.Error("handler panicked", "request_id", requestID(r.Context()), "route", routeOf(r),
		"panic", p, "stack", string(debug.Stack()))
	a.fail(w, r, errs.New(errs.Internal, "internal", "internal error"))
}

// hungUp is what other servers, too, count a request as whose client went
// before it was answered.
const hungUp = 499

func (a *API) finish(r *http.Request, status int, took time.Duration) {
	switch {
	case status == 0 && r.Context().Err() != nil:
		status = hungUp
	case status == 0:
		status = http.StatusOK
	}
	route := routeOf(r)
	a.metrics.request(route, r.Method, status, took)
	a.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request_id", requestID(r.Context())), slog.String("route", route),
		slog.Int("status", status), slog.Float64("took_ms", float64(took.Microseconds())/1000))
}

func newRequestID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// routeOf is the pattern that matched; every path that matches none is one.
func routeOf(r *http.Request) string {
	rc := chi.RouteContext(r.Context())
	if rc == nil {
		return "unmatched"
	}
	p := rc.RoutePattern()
	if p == "" || strings.HasSuffix(p, "/*") {
		return "unmatched"
	}
	return p
}

// cors opens every route to browsers and answers preflights (wire 2, I.1). It
// stands outside the version check.
func cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
		h.Set("Access-Control-Allow-Headers",
			"Content-Type, If-None-Match, X-ANet-Wire, X-ANet-AID, X-ANet-TS, X-ANet-Seq, X-ANet-Sig, PAYMENT-SIGNATURE")
		h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, RateLimit, RateLimit-Policy, X-ANet-Wire, X-Request-ID, PAYMENT-REQUIRED, PAYMENT-RESPONSE")
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// version checks the caller's wire (wire 2, C.4): nobody may speak a newer
// one, and mailboxes are closed to an older. The identity and the routes
// between hubs stand outside.
func (a *API) version(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkVersion(r.URL.Path, r.Header.Get(wire.HeaderVersion)); err != nil {
			a.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkVersion(path, header string) error {
	if path == "/hub/identity" || strings.HasPrefix(path, "/fed/") {
		return nil
	}
	v, err := strconv.Atoi(header)
	switch {
	case err == nil && v > wire.Version:
		return errs.New(errs.Invalid, "wire_too_new", "this hub speaks wire %d, the request wire %d", wire.Version, v).In(wire.HeaderVersion)
	case strings.HasPrefix(path, "/relay/") && (err != nil || v < wire.Version):
		return errs.New(errs.UpgradeRequired, "wire_too_old", "this hub's mailboxes need wire %d: upgrade the node", wire.Version).
			In(wire.HeaderVersion).With("required_wire", wire.Version)
	}
	return nil
}
