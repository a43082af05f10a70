package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// handler answers a request or says why not.
type handler func(w http.ResponseWriter, r *http.Request) error

// open serves a route without authentication.
func (a *API) open(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// fail writes every failure of the API.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := a.explain(w, r, err)
	if e == nil {
		return
	}
	body := map[string]any{"error": e.Message, "code": e.Reason, "request_id": requestID(r.Context())}
	if e.Field != "" {
		body["field"] = e.Field
	}
	maps.Copy(body, e.Detail)
	if err := writeJSON(w, wire.StatusOf(e.Kind), body); err != nil {
		a.undelivered(r, err)
	}
}

// explain is what a caller learns of a failure, nil where nobody is listening
// any more. What has no kind is ours to explain: the cause goes to the log with
// the request id, the caller learns only the id.
func (a *API) explain(w http.ResponseWriter, r *http.Request, err error) *errs.Error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil
	}
	e := errs.As(err)
	if e == nil || e.Kind == errs.Internal {
		e = a.ours(r, err)
	}
	a.metrics.refused(routeOf(r), e.Kind)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(seconds(e.RetryAfter), 10))
	}
	if refused := (*admission.Refused)(nil); errors.As(err, &refused) {
		showQuota(w, refused.Quota)
	}
	return e
}

func (a *API) undelivered(r *http.Request, err error) {
	a.Log.Debug("answer not delivered", "request_id", requestID(r.Context()), "error", err)
}

// ours is a failure that is none of the caller's. While the database is away
// every request fails in the same way, and readyz tells of it: that is worth no
// line each.
func (a *API) ours(r *http.Request, cause error) *errs.Error {
	level, e := slog.LevelError, errs.New(errs.Internal, "internal", "internal error")
	if a.Down != nil && a.Down(cause) {
		level = slog.LevelDebug
		e = errs.New(errs.Unavailable, "database_unavailable", "the hub's database does not answer: try again in a moment").After(databaseBack)
	}
	a.Log.LogAttrs(r.Context(), level, "request failed",
		slog.String("request_id", requestID(r.Context())), slog.String("route", routeOf(r)), slog.Any("error", cause))
	return e
}

// databaseBack is about how long a database takes to come back after a crash.
const databaseBack = 2 * time.Second

// seconds rounds up: a client that waits the whole number is not early.
func seconds(d time.Duration) int64 {
	return int64(math.Ceil(d.Seconds()))
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	return writeBody(w, status, "application/json", body)
}

// encode writes JSON. Cards must keep their bytes, so nothing is escaped for
// HTML.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) error {
	limitAnswer(w, int64(len(body)))
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// decode reads a JSON body strictly: duplicate names, names equal but for
// case, and broken UTF-8 mean different things to different readers and are
// refused (wire 2, F.7). So is null: it would be an object without members, and
// clear a profile.
func decode(body []byte, v any) error {
	if err := codec.UnmarshalObject(body, v); err != nil {
		return errs.New(errs.Invalid, "malformed_json", "the body is not the JSON object this route takes: %s", describe(err)).In("body")
	}
	return nil
}

// notFound answers for a path without a route.
func notFound(http.ResponseWriter, *http.Request) error { return errNoRoute() }

func errNoRoute() error {
	return errs.New(errs.NotFound, "no_such_route", "there is no such route")
}
