package service

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"
)

// overSocket sends to "/" of the socket. The program learns the capability from
// a header, so one socket can answer several.
func (p *program) overSocket(s socket) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) }
	p.target, p.where = "http://localhost/", "the socket "+s.path
	p.use(dial, "unix", s.path)
}

func (p *program) overTCP(u *url.URL) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	p.target, p.where = u.String(), u.Scheme+"://"+u.Host
	p.use(dialer.DialContext, "tcp", hostPort(u))
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), u.Scheme)
}

// use sets the one way to the program, for calls and for the look at its health.
// Every call has a connection of its own: one kept open could have changed
// hands, and when it broke nobody could tell whether the call had arrived. No
// proxy is asked and no redirect followed; the call is for this program.
func (p *program) use(dial func(context.Context, string, string) (net.Conn, error), network, address string) {
	p.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dial, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 10 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.reach = func(ctx context.Context) error {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
