// Package attempt knows whether an HTTP request can have reached anybody. A
// failure before a connection existed certainly sent nothing; after that nobody
// can tell (wire 2, G.3), however little seems to have been written.
package attempt

import (
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"
)

// Attempt watches one request.
type Attempt struct{ connected atomic.Bool }

// Watch returns the request to send in place of r.
func Watch(r *http.Request) (*http.Request, *Attempt) {
	a := &Attempt{}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.connected.Store(true) }}
	return r.WithContext(httptrace.WithClientTrace(r.Context(), trace)), a
}

// MayHaveArrived reports whether the other side can have seen the request.
func (a *Attempt) MayHaveArrived() bool { return a.connected.Load() }

// MaxRetry bounds the wait that anybody may ask of a node.
const MaxRetry = 24 * time.Hour

// RetryAfter reads both forms of the header; zero when there is none to obey.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value, wait := h.Get("Retry-After"), time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, MaxRetry))
}
