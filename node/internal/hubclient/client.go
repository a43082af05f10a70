// Package hubclient speaks the hub API of wire 2 for a node: it signs, bounds
// and decodes, and turns every failure into an errs.Error. It holds no rules
// about tasks or lists, and never tries again on its own: who calls it knows
// whether a second attempt is right, and each call signs anew.
//
// A client speaks to one hub, known by its pinned key history (Pin).
package hubclient

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Client is safe for use by several goroutines and keeps connections open.
type Client struct {
	base   *url.URL
	http   *http.Client
	hubAID string
	signer func() *identity.Controller
	now    func() time.Time
	stamps stamps
}

// Options say whom to speak to, as whom.
type Options struct {
	Hub Pin
	// Signer gives the identity of the moment, so that a rotation holds from the
	// next request on. Nil makes a client that can only look things up.
	Signer func() *identity.Controller
	Now    func() time.Time // time.Now when nil
	// Transport replaces the network in tests.
	Transport http.RoundTripper
}

// New makes a client; it connects to nothing yet.
func New(o Options) (*Client, error) {
	base, err := ParseURL(o.Hub.URL, o.Hub.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return &Client{
		base: base, hubAID: o.Hub.AID, signer: o.Signer, now: o.Now,
		http: &http.Client{Transport: o.Transport, CheckRedirect: noRedirect},
	}, nil
}

// noRedirect hands the redirection back as the answer. Followed, it would show
// another host what was signed for this one.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		// A long poll is silent for a minute. The ping tells a quiet hub from one
		// whose machine is gone.
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Hub is the hub's base URL, without a slash at the end.
func (c *Client) Hub() string { return c.base.String() }

// ParseURL reads a hub's base URL. Plain http is for this machine, unless the
// operator said otherwise: anybody on the way could answer in the hub's place.
func ParseURL(raw string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, badURL(raw)
	case u.Scheme == "http" && !allowHTTP && !Loopback(u.Hostname()):
		return nil, errs.New(errs.Invalid, "hub_plain_http",
			"%s is not encrypted; use https, or say --allow-http if the way to it is safe", raw)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, badURL(raw)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}, nil
}

func badURL(raw string) error {
	return errs.New(errs.Invalid, "hub_url_invalid", "%.200q is no hub URL; write https://hub.example.org", raw)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && addr.IsLoopback())
}

// stamps gives every request a time of its own: two equal requests within one
// millisecond would carry equal signatures, and the second be taken for a replay.
type stamps struct {
	mu   sync.Mutex
	last uint64
}

// drift is how far stamps may run ahead of the clock before they follow it
// again, as when the clock was set back.
const drift = 1000

func (s *stamps) next(now time.Time) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ts := uint64(now.UnixMilli())
	if ts <= s.last && s.last-ts < drift {
		ts = s.last + 1
	}
	s.last = ts
	return ts
}
