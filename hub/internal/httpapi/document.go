package httpapi

import (
	"net/http"

	"github.com/anet-hub/anet/api"
)

// document serves the description of this API.
func document(w http.ResponseWriter, r *http.Request) error {
	return writeTagged(w, r, "application/yaml", api.OpenAPI)
}
