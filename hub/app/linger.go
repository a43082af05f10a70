package app

import (
	"io"
	"net/http"
	"time"
)

// Who is refused in the midst of a body still sends, and whoever hangs up on that has
// the connection reset: the client, or the proxy before it, may see no answer then, and
// take the refusal for a failure that passes.
const (
	lingering   = 4 * time.Second // for what is on its way; less than a stop waits for requests
	maxLingered = 256 << 20       // bytes
)

// linger has a server read on, for a while and to no purpose, what a client sends after
// its answer. HTTP/2 has a frame of its own to stop that.
func linger(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 || r.ProtoMajor != 1 {
			next.ServeHTTP(w, r)
			return
		}
		body := arriving{ReadCloser: r.Body}
		asked := *r // the server looks at the body of its own
		asked.Body = &body
		next.ServeHTTP(w, &asked)
		if !body.over {
			body.discard(http.NewResponseController(w))
		}
	})
}

// arriving is a body that remembers whether it came to its end.
type arriving struct {
	io.ReadCloser
	over bool
}

func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.over = a.over || err != nil
	return n, err
}

func (a *arriving) discard(conn *http.ResponseController) {
	if conn.Flush() == nil && conn.SetReadDeadline(time.Now().Add(lingering)) == nil {
		_, _ = io.CopyN(io.Discard, a, maxLingered)
	}
}
