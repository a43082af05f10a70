package httpapi

import "net/http"

// homeHub is this hub's address: the configured one, else the one it was asked
// under.
func (a *API) homeHub(r *http.Request) string {
	if a.PublicURL != "" {
		return a.PublicURL
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
