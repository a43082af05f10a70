// Package outbound calls other hubs. What a peer answers, and where its name or
// its redirects lead, is a stranger's word: addresses are checked as they are
// connected to, and answers are bounded in size and in time.
//
// The one rule: nothing in this program calls an address that somebody else named
// in any other way.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	usualTimeout  = 10 * time.Second
	perMiB        = time.Second // more, for what is sent and what may be answered
	dialTimeout   = 5 * time.Second
	maxHeader     = 32 << 10
	maxRedirects  = 3
	maxIdle       = 64 // connections, to all peers together
	maxIdleToOne  = 4
	maxConnsToOne = 32
)

// Options say where calls may lead and how long one takes.
type Options struct {
	Allow   []netip.Prefix // ranges called although they are not the internet, and with plain http
	Timeout time.Duration  // of a small call, from the first packet to the last; 0: 10 s
	Version string         // of this program, for the other side's log

	resolver *net.Resolver // nil: the machine's own
}

// Client calls peers. No proxy is taken from the environment: it would resolve
// names where nothing here sees what they lead to.
type Client struct {
	timeout time.Duration
	agent   string
	plain   *http.Transport
	secure  *http.Transport
	stays   *http.Client // gives a redirect back
	follows *http.Client
}

// New makes a client.
func New(o Options) *Client {
	g := newGuard(o.Allow)
	c := &Client{timeout: cmp.Or(o.Timeout, usualTimeout), agent: "anet-hub/" + cmp.Or(o.Version, "unknown")}
	c.plain = transport(net.Dialer{Timeout: dialTimeout, ControlContext: lean(g.plain), Resolver: o.resolver})
	c.secure = transport(net.Dialer{Timeout: dialTimeout, ControlContext: lean(g.secure), Resolver: o.resolver})
	c.stays = &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.follows = &http.Client{Transport: c, CheckRedirect: mayFollow}
	return c
}

func transport(d net.Dialer) *http.Transport {
	return &http.Transport{
		DialContext: d.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: time.Minute,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdleToOne, MaxConnsPerHost: maxConnsToOne,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // what is counted is what was sent
	}
}

// RoundTrip sends a request, or the next one after a redirect, the way its scheme
// goes.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Scheme {
	case "https":
		return c.secure.RoundTrip(r)
	case "http":
		return c.plain.RoundTrip(r)
	}
	return nil, refusedAddress("it begins neither with https:// nor with http://")
}

func mayFollow(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > maxRedirects:
		return refusedRedirect("there were more than %d", maxRedirects)
	case before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return refusedRedirect("it leads from https to something else")
	}
	return nil
}

func refusedRedirect(why string, args ...any) *errs.Error {
	return errs.New(errs.BadGateway, "redirect_refused", "a redirect is not followed: "+why, args...)
}

// Get asks for a page of at most maxBytes. Redirects are followed, three at most
// and never from https to http. A peer that says when to ask again is a failure
// that says so.
func (c *Client) Get(ctx context.Context, url string, maxBytes int64) (status int, body []byte, err error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, refusedAddress("it cannot be read").Because(err)
	}
	status, header, body, err := c.call(ctx, c.follows, req, maxBytes)
	if again := retryAfter(header); again > 0 && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
		return 0, nil, errs.New(errs.Unavailable, "peer_busy", "the peer asks to be left alone for %s", again).After(again)
	}
	return status, body, err
}

// Post sends JSON. It is never sent on to where a redirect points.
func (c *Client) Post(ctx context.Context, url string, body []byte, maxAnswer int64) (status int, answer []byte, err error) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, refusedAddress("it cannot be read").Because(err)
	}
	req.Header.Set("Content-Type", "application/json")
	status, _, answer, err = c.call(ctx, c.stays, req, maxAnswer)
	return status, answer, err
}

// Do sends a request with headers of its own. It is not sent on to where a
// redirect points either: what is signed for one hub is no other's to read.
func (c *Client) Do(ctx context.Context, req *http.Request, maxAnswer int64) (status int, header http.Header, body []byte, err error) {
	return c.call(ctx, c.stays, req, maxAnswer)
}

func (c *Client) call(ctx context.Context, by *http.Client, req *http.Request, maxAnswer int64) (int, http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.within(max(req.ContentLength, 0)+maxAnswer))
	defer cancel()
	return c.exchange(ctx, by, req, maxAnswer)
}

// exchange takes the time that ctx has.
func (c *Client) exchange(ctx context.Context, by *http.Client, req *http.Request, maxAnswer int64) (int, http.Header, []byte, error) {
	req = req.WithContext(ctx)
	req.Header.Set("User-Agent", c.agent)
	resp, err := by.Do(req)
	if err != nil {
		return 0, nil, nil, told(ctx, err)
	}
	defer resp.Body.Close()
	if location := resp.Header.Get("Location"); location != "" && resp.StatusCode/100 == 3 {
		return 0, nil, nil, refusedRedirect("this call goes to the peer's own address alone")
	}
	body, err := read(resp, maxAnswer)
	if err != nil {
		return 0, nil, nil, told(ctx, err)
	}
	return resp.StatusCode, resp.Header, body, nil
}

// within is how long a call may take, all of it: a peer that sends one byte a
// second is as gone as one that sends none.
func (c *Client) within(bytes int64) time.Duration {
	return c.timeout + time.Duration(bytes>>20)*perMiB
}

func read(resp *http.Response, most int64) ([]byte, error) {
	if resp.ContentLength > most {
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(body)) > most {
		err = tooLarge(most)
	}
	return body, err
}

func tooLarge(most int64) error {
	return errs.New(errs.BadGateway, "answer_too_large", "the peer's answer is larger than the %d bytes it may have", most)
}

// Close hangs up on all.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}
