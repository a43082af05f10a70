package web

import (
	"net/url"

	"github.com/anet-hub/anet/shared/plain"
)

// Home is another hub, by the host that people know it by. Where it is called is
// a word of others, and the one address of theirs that a page leads to: only as
// far as a browser asks there for a page.
type Home struct{ Host, URL string }

// homeOf reads the address of a hub, nil where there is none. One that is no
// address of the web is shown and leads nowhere.
func homeOf(raw string) *Home {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return &Home{Host: plain.Line(raw)}
	}
	return &Home{Host: plain.Line(u.Host), URL: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()}
}
