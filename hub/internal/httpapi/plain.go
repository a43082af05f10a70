package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/shared/errs"
)

// challengePath is where a certificate authority asks (RFC 8555, 8.3).
const challengePath = "/.well-known/acme-challenge/{token}"

// hsts keeps browsers at HTTPS for a year. It says nothing of names below this
// one, which are not the hub's.
const hsts = "max-age=31536000"

// Secure is the face behind TLS of the hub's own.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", hsts)
		next.ServeHTTP(w, r)
	})
}

// Plain is the face for those who come without TLS where the hub does it: it
// answers challenges, sends readers to HTTPS at the host that to gives for the
// one they asked for, and refuses the rest. What a signed request holds has been
// on the wire for everybody to read by then; it must not go unnoticed.
func (a *API) Plain(challenge func(ctx context.Context, name, token string) ([]byte, bool), to func(name string) (host string)) http.Handler {
	r := chi.NewRouter()
	r.Use(a.observe)
	r.Get(challengePath, a.open(func(w http.ResponseWriter, r *http.Request) error {
		answer, ok := challenge(r.Context(), hostname(r.Host), chi.URLParam(r, "token"))
		if !ok {
			return errs.New(errs.NotFound, "challenge_unknown", "no such challenge is open here")
		}
		return writeBody(w, http.StatusOK, "text/plain", answer)
	}))
	elsewhere := a.open(func(w http.ResponseWriter, r *http.Request) error { return moved(w, r, to) })
	r.NotFound(elsewhere)
	r.MethodNotAllowed(elsewhere)
	return r
}

func moved(w http.ResponseWriter, r *http.Request, to func(string) string) error {
	secure := "https://" + to(hostname(r.Host))
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return errs.New(errs.Invalid, "https_required", "this hub takes requests over HTTPS only: use %s", secure)
	}
	path := r.URL.RequestURI()
	if !strings.HasPrefix(path, "/") { // as of "GET x:y", which would become part of the host
		path = "/"
	}
	w.Header().Set("Location", secure+path)
	limitAnswer(w, 0)
	w.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// hostname is the name in a Host header, without port and as clients may write it.
func hostname(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
