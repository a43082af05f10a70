package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/shared/errs"
)

// methodNotAllowed names the methods the path does take, which every 405 has to
// (RFC 9110, 15.5.6).
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	allowed := strings.Join(a.methodsOf(r), ", ")
	w.Header().Set("Allow", allowed)
	return errs.New(errs.MethodNotAllowed, "method_not_allowed", "this route does not take that method, it takes %s", allowed)
}

// methodsOf are the methods a path takes. HEAD is GET without the body, and
// every path answers a preflight.
func (a *API) methodsOf(r *http.Request) (methods []string) {
	if a.takes(http.MethodGet, r) {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if a.takes(http.MethodPost, r) {
		methods = append(methods, http.MethodPost)
	}
	return append(methods, http.MethodOptions)
}

func (a *API) takes(method string, r *http.Request) bool {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	return a.mux.Match(chi.NewRouteContext(), method, path)
}
