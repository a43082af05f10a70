package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// writeTagged answers with a document that caches may keep, or with 304 where
// the caller has it (wire 2, I.5).
func writeTagged(w http.ResponseWriter, r *http.Request, contentType string, body []byte) error {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "max-age=300")
	if matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeBody(w, http.StatusOK, contentType, body)
}

// matches compares weakly, over lists and "*" (RFC 9110, 13.1.2). Our tags hold
// no comma, so a list may be cut at every one.
func matches(headers []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}
