package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers a proxy can name its client in.
const (
	realIP       = "X-Real-Ip"
	forwardedFor = "X-Forwarded-For"
	forwarded    = "Forwarded"
)

// Proxies are those whose word on where a request comes from is taken, and the
// one header they say it in. What a client wrote into another header a proxy
// passes on as it came, so no other is looked at, and none is guessed.
type Proxies struct {
	Trusted []netip.Prefix
	Header  string // in its canonical form; empty is X-Real-Ip
}

// name is the header that is looked at.
func (p Proxies) name() string {
	if p.Header == "" {
		return realIP
	}
	return p.Header
}

// ProxyHeader is the header of that name, in any case.
func ProxyHeader(name string) (string, error) {
	known := []string{realIP, forwardedFor, forwarded}
	if name = http.CanonicalHeaderKey(name); slices.Contains(known, name) {
		return name, nil
	}
	return "", errors.New("it is one of X-Real-IP, X-Forwarded-For, Forwarded")
}

// clientBucket is the address rate limits count by.
func (a *API) clientBucket(r *http.Request) string { return bucketOf(a.Proxies.client(r)) }

// client is the address a request comes from: the peer's, or what trusted
// proxies say, going from the nearest outwards until one is named that is not
// trusted. Where a proxy's word cannot be read, the proxy itself is as far as
// anybody knows.
func (p Proxies) client(r *http.Request) netip.Addr {
	client := peerAddr(r)
	if client.IsValid() && !p.trusts(client) {
		return client
	}
	for _, hop := range slices.Backward(p.hops(r.Header)) {
		addr, ok := parseHop(hop)
		if !ok {
			break
		}
		if client = addr; !p.trusts(addr) {
			break
		}
	}
	return client
}

// peerAddr is who connected. The peer at a Unix socket has no address: it is a
// proxy of this machine, which only a folder's rights can have let in.
func peerAddr(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}

func (p Proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(r netip.Prefix) bool { return r.Contains(addr.WithZone("")) })
}

// hops are the addresses a request came by, the nearest last. X-Real-IP is set
// and not added to: two of them were not written by one proxy.
func (p Proxies) hops(h http.Header) []string {
	lines := h.Values(p.Header)
	switch p.Header {
	case forwardedFor:
		return strings.Split(strings.Join(lines, ","), ",")
	case forwarded:
		return forwardedHops(strings.Join(lines, ","))
	}
	if lines = h.Values(realIP); len(lines) != 1 {
		return nil
	}
	return lines
}

// forwardedHops are the "for" of each element (RFC 7239). Elements are cut off
// from the right, where the nearest proxy wrote: a quote that a client opened and
// never closed must not swallow what was added behind it.
func forwardedHops(list string) (hops []string) {
	for quoted, end, i := false, len(list), len(list)-1; i >= -1; i-- {
		switch {
		case i == -1 || list[i] == ',' && !quoted:
			hops = append(hops, forOf(list[i+1:end]))
			end = i
		case list[i] == '"':
			quoted = !quoted
		}
	}
	slices.Reverse(hops)
	return hops
}

func forOf(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// parseHop reads an address with or without port, brackets and zone.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap(), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(s)
	return addr.Unmap(), err == nil
}

// bucketOf is a client as rates count it: an IPv6 client owns a whole /64.
func bucketOf(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return "local"
	case addr.Is6():
		p, _ := addr.Prefix(64)
		return p.String()
	}
	return addr.String()
}
