package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// wantsPage reports whether the caller would rather have a page than JSON. It
// has to say so, as every browser does: */* and silence are a program's.
func wantsPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	page := quality(accept, "text/html")
	return page > 0 && page >= quality(accept, "application/json")
}

// quality is how much a type is wanted that is named in full, 0 where it is not.
func quality(accept, contentType string) float64 {
	for part := range strings.SplitSeq(accept, ",") {
		named, params, err := mime.ParseMediaType(part)
		if err != nil || named != contentType {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			return 1
		}
		return q
	}
	return 0
}
