package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	tests := []struct{ method, path, allow string }{
		{"DELETE", "/agents", "GET, HEAD, OPTIONS"},
		{"GET", "/register", "POST, OPTIONS"},
		{"HEAD", "/register", "POST, OPTIONS"},
		{"PUT", "/agents/b/keys", "GET, HEAD, POST, OPTIONS"},
		{"PATCH", "/agents/a%2Fb/keys", "GET, HEAD, POST, OPTIONS"},
		{"FOO", "/healthz", "GET, HEAD, OPTIONS"},
	}
	w := newTown(t)
	for _, tt := range tests {
		a := w.do(httptest.NewRequest(tt.method, tt.path, nil))
		if got := a.Header.Get("Allow"); a.StatusCode != 405 || a.code() != "method_not_allowed" || got != tt.allow {
			t.Errorf("%s %s: %d %s, Allow %q, want 405 with %q", tt.method, tt.path, a.StatusCode, a.raw, got, tt.allow)
		}
	}
	if a := w.do(httptest.NewRequest("DELETE", "/nowhere", nil)); a.StatusCode != 404 || a.Header.Get("Allow") != "" {
		t.Errorf("DELETE /nowhere: %d, Allow %q, want 404 without", a.StatusCode, a.Header.Get("Allow"))
	}
}

// HEAD tells of every route what GET does, and has no body, whatever the answer.
func TestHeadIsGetWithoutItsBody(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	server := httptest.NewServer(w.api)
	defer server.Close()
	_ = chi.Walk(w.api.mux, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method != http.MethodGet {
			return nil
		}
		url := server.URL + strings.Replace(route, "{aid}", n.AID(), 1)
		get, _ := askHTTP(t, http.MethodGet, url)
		head, body := askHTTP(t, http.MethodHead, url)
		if head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || len(body) > 0 {
			t.Errorf("HEAD %s: %d %s and %d bytes, want %d %s and none", route, head.StatusCode, head.Header.Get("Content-Type"),
				len(body), get.StatusCode, get.Header.Get("Content-Type"))
		}
		if route != "/metrics" && head.ContentLength != get.ContentLength {
			t.Errorf("HEAD %s: Content-Length %d, want %d", route, head.ContentLength, get.ContentLength)
		}
		return nil
	})
}

func askHTTP(t *testing.T, method, url string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}
