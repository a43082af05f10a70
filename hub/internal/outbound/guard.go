package outbound

import (
	"context"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/anet-hub/anet/shared/errs"
)

// guard decides about addresses as they are connected to: a name was resolved by
// then, and is resolved for every connection again, so that there is no moment
// between the check and the use in which it could lead elsewhere.
type guard struct {
	allow  []netip.Prefix
	public *ssrf.Guardian
}

// azure is where a cloud answers its machines with what they are: the one such
// address that looks like anybody's.
var azure = netip.MustParsePrefix("168.63.129.16/32")

func newGuard(allow []netip.Prefix) *guard {
	return &guard{allow, ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure))}
}

// secure is net.Dialer.ControlContext for connections that are to be TLS.
func (g *guard) secure(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := addrOf(address)
	if err != nil || g.allowed(addr) {
		return err
	}
	if err := g.public.SafeAddr(addr); err != nil {
		return refusedAddress("it is not on the internet, and no --peer-allow-range has it").Because(err)
	}
	return nil
}

// plain is the same for connections that anybody between could read and change.
func (g *guard) plain(ctx context.Context, network, address string, c syscall.RawConn) error {
	if err := g.secure(ctx, network, address, c); err != nil {
		return err
	}
	if addr, err := addrOf(address); err != nil || g.allowed(addr) {
		return err
	}
	return refusedAddress("plain http goes to the ranges of --peer-allow-range alone: use https")
}

// allowed reports whether the operator lets an address through. A range of
// NAT64 says nothing about what is reached behind it.
func (g *guard) allowed(addr netip.Addr) bool {
	if !g.listed(addr) {
		return false
	}
	if !ssrf.IPv6NAT64Prefix.Contains(addr) {
		return true
	}
	b := addr.As16()
	inside := netip.AddrFrom4([4]byte(b[12:]))
	return g.listed(inside) || g.public.SafeAddr(inside) == nil
}

func (g *guard) listed(addr netip.Addr) bool {
	for _, p := range g.allow {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// addrOf takes an IPv4 address within IPv6 for what it is.
func addrOf(address string) (netip.Addr, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}, refusedAddress("it cannot be read").Because(err)
	}
	return at.Addr().Unmap().WithZone(""), nil
}

func refusedAddress(why string) *errs.Error {
	return errs.New(errs.BadGateway, "address_refused", "this address is not called: %s", why)
}
