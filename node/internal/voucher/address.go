package voucher

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/errs"
)

// Source is who says an address, and what that may be.
type Source struct {
	Mine      bool // a person typed it
	Near      bool // it is of agents of a hub that runs on this machine
	AllowHTTP bool // a person said that the way is safe
}

// Address reads a URL that may be contacted: https, or this machine where that was
// meant. Somebody else's word must not have this machine talk to itself.
func (s Source) Address(raw string) (*url.URL, error) {
	kind := errs.Forbidden
	if s.Mine {
		kind = errs.Invalid
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errs.New(kind, "url_invalid", "%.200q is no address such as https://node.example.org/redeem", raw)
	case here(u.Hostname()) && !s.Mine && !s.Near:
		return nil, errs.New(kind, "url_here", "the seller's address %.200q is on this machine; if you mean it: --at %[1]s", raw)
	case u.Scheme == "http" && !s.AllowHTTP && !here(u.Hostname()):
		return nil, errs.New(kind, "url_plain_http",
			"%.200q is not encrypted, and who listens could use what is sent; say --allow-http if the way to it is safe", raw)
	}
	return u, nil
}

// here reports whether a host is this machine; an unspecified address leads there.
func here(host string) bool {
	addr, err := netip.ParseAddr(host)
	return hubclient.Loopback(host) || err == nil && addr.Unmap().IsUnspecified() || err == nil && addr.Unmap().IsLoopback()
}
