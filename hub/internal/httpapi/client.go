package httpapi

import (
	"net"
	"net/http"
	"net/netip"
)

// clientAddr is the address rate limits count by: the peer's, or what a
// trusted proxy says in X-Real-IP. An IPv6 client owns a whole /64, so that is
// what is counted.
func (a *API) clientAddr(r *http.Request) string {
	peer := peerAddr(r)
	if real, err := netip.ParseAddr(r.Header.Get("X-Real-IP")); err == nil && a.trusts(peer) {
		peer = real
	}
	return bucketOf(peer)
}

func peerAddr(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}

func (a *API) trusts(peer netip.Addr) bool {
	for _, p := range a.TrustedProxies {
		if p.Contains(peer) {
			return true
		}
	}
	return false
}

func bucketOf(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		p, _ := addr.Prefix(64)
		return p.String()
	}
	return addr.String()
}
