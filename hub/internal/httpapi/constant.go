package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Constant serves one body under one path. Benchmarks hold a route of the hub
// against it: the same router and no work.
type Constant struct {
	Path string
	Body []byte
}

func (c Constant) routes(a *API, r chi.Router) {
	r.Get(c.Path, a.open(func(w http.ResponseWriter, _ *http.Request) error {
		return writeBody(w, http.StatusOK, "application/json", c.Body)
	}))
}
