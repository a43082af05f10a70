package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// witness listens to what the certificate authority says. Autocert answers every
// challenge that failed with one sentence for all of them; the reason, with which
// something can be done, stood in an answer.
type witness struct {
	base http.RoundTripper

	mu   sync.Mutex
	said complaint
}

// transport speaks to the directory.
func transport(roots *x509.CertPool) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t
}

// complaint is why there is no certificate: a kind of RFC 8555, 6.7, without its
// prefix, and words.
type complaint struct{ kind, detail string }

const acmeError = "urn:ietf:params:acme:error:"

func (c complaint) String() string {
	switch {
	case c.kind == "":
		return c.detail
	case c.detail == "":
		return c.kind
	}
	return c.kind + ": " + c.detail
}

const maxAnswer = 64 << 10 // what is read of an answer for a reason

// RoundTrip passes on what is said, and remembers complaints.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.base.RoundTrip(r)
	if err != nil {
		w.hear(unreachable(r, err))
		return resp, err
	}
	if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if resp.StatusCode >= 400 {
			w.hear(complaint{"directory", fmt.Sprintf("%s answers %s", r.URL.Host, resp.Status)})
		}
		return resp, nil
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return resp, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	w.hear(complaintIn(head))
	return resp, nil
}

func unreachable(r *http.Request, err error) complaint {
	var stranger x509.UnknownAuthorityError
	if errors.As(err, &stranger) {
		return complaint{"directoryUntrusted", r.URL.Host + ": " + err.Error()}
	}
	return complaint{"directory", err.Error()}
}

// problem is the part of an answer that may hold a complaint: the answer itself,
// or a challenge of an authorization that came to nothing.
type problem struct {
	Type       string    `json:"type"`
	Detail     string    `json:"detail"`
	Error      *problem  `json:"error"`
	Challenges []problem `json:"challenges"`
}

func complaintIn(body []byte) complaint {
	var p problem
	if json.Unmarshal(body, &p) != nil {
		return complaint{}
	}
	return p.complaint()
}

func (p problem) complaint() complaint {
	if kind, ok := strings.CutPrefix(p.Type, acmeError); ok && kind != "badNonce" { // which is simply asked again
		return complaint{kind, p.Detail}
	}
	for _, inner := range append([]problem{}, p.Challenges...) {
		if inner.Error != nil {
			return inner.Error.complaint()
		}
	}
	if p.Error != nil {
		return p.Error.complaint()
	}
	return complaint{}
}

func (w *witness) hear(c complaint) {
	if c == (complaint{}) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = c
}

func (w *witness) last() complaint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said
}

func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = complaint{}
}
