package httpapi

import (
	"fmt"
	"net/http"

	"github.com/anet-hub/anet/hub/internal/admission"
)

// Header names of the rate limits, as draft-ietf-httpapi-ratelimit-headers has
// them: a policy is "name";q=QUOTA;w=SECONDS, its state "name";r=LEFT and, once
// nothing is left, t=SECONDS until there is. As tokens come back one by one there
// is no moment at which all are there again, so t is not told before.
const (
	headerPolicy = "RateLimit-Policy"
	headerQuota  = "RateLimit"
)

// showQuota tells a client what is left of its quota.
func showQuota(w http.ResponseWriter, q admission.Quota) {
	left := fmt.Sprintf("%q;r=%d", q.Name, q.Left)
	if q.Left == 0 {
		left += fmt.Sprintf(";t=%d", seconds(q.Next))
	}
	w.Header().Set(headerPolicy, fmt.Sprintf("%q;q=%d;w=%d", q.Name, q.Size, seconds(q.Window)))
	w.Header().Set(headerQuota, left)
}
