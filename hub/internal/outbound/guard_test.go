package outbound

import (
	"net/netip"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

// prefixes reads ranges.
func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func TestGuard(t *testing.T) {
	tests := []struct {
		address string
		says    string
	}{
		{"127.0.0.1:443", "loopback"},
		{"127.255.255.254:443", "all of loopback"},
		{"[::1]:443", "loopback"},
		{"10.0.0.5:443", "private"},
		{"172.16.0.1:443", "private"},
		{"172.31.255.255:443", "private, the last"},
		{"192.168.1.1:443", "private"},
		{"100.64.0.1:443", "carrier's NAT"},
		{"100.100.100.200:443", "metadata of a cloud"},
		{"169.254.169.254:443", "metadata of most clouds"},
		{"169.254.1.1:443", "link-local"},
		{"192.0.0.192:443", "metadata of a cloud"},
		{"168.63.129.16:443", "metadata of a cloud, with an address like anybody's"},
		{"[fd00:ec2::254]:443", "metadata of a cloud"},
		{"[fe80::1]:443", "link-local"},
		{"[fe80::1%eth0]:443", "link-local with its zone"},
		{"[fc00::1]:443", "unique local"},
		{"[fdff::1]:443", "unique local"},
		{"[fec0::1]:443", "site-local"},
		{"224.0.0.1:443", "multicast"},
		{"239.255.255.250:443", "multicast"},
		{"[ff02::1]:443", "multicast"},
		{"0.0.0.0:443", "unspecified, which is this machine"},
		{"0.1.2.3:443", "this network"},
		{"[::]:443", "unspecified"},
		{"255.255.255.255:443", "broadcast"},
		{"240.0.0.1:443", "reserved"},
		{"192.0.2.1:443", "documentation"},
		{"198.51.100.1:443", "documentation"},
		{"203.0.113.1:443", "documentation"},
		{"[2001:db8::1]:443", "documentation"},
		{"[3fff::1]:443", "documentation"},
		{"198.18.0.1:443", "benchmarks"},
		{"[2001:2::1]:443", "benchmarks"},
		{"192.88.99.1:443", "relays of 6to4"},
		{"[::ffff:127.0.0.1]:443", "loopback within IPv6"},
		{"[::ffff:10.0.0.5]:443", "private within IPv6"},
		{"[::127.0.0.1]:443", "loopback within IPv6, the older way"},
		{"[64:ff9b::7f00:1]:443", "loopback behind NAT64"},
		{"[64:ff9b::8.8.8.8]:443", "NAT64, which nobody allowed"},
		{"[64:ff9b:1::a00:5]:443", "a NAT64 of one's own"},
		{"[2002:7f00:1::]:443", "loopback in 6to4"},
		{"[2002:808:808::]:443", "6to4"},
		{"[2001:0:7f00:1::]:443", "Teredo"},
		{"[100::1]:443", "discarded"},
		{"nonsense", "no address"},
	}
	g := newGuard(nil)
	for _, tt := range tests {
		if err := g.secure(t.Context(), "tcp", tt.address, nil); !errs.Is(err, "address_refused") {
			t.Errorf("%s (%s) is called: %v", tt.address, tt.says, err)
		}
	}
	for _, address := range []string{"93.184.215.14:443", "8.8.8.8:8443", "[2606:4700::6810:84e5]:443", "[::ffff:8.8.8.8]:443"} {
		if err := g.secure(t.Context(), "tcp", address, nil); err != nil {
			t.Errorf("%s is not called: %v", address, err)
		}
		if err := g.plain(t.Context(), "tcp", address, nil); !errs.Is(err, "address_refused") {
			t.Errorf("%s is called with plain http: %v", address, err)
		}
	}
}

func TestGuardAllows(t *testing.T) {
	g := newGuard(prefixes("10.20.0.0/16", "fd12::/32", "64:ff9b::/96"))
	tests := []struct {
		address string
		want    bool
	}{
		{"10.20.3.4:80", true},
		{"[::ffff:10.20.3.4]:80", true},
		{"10.21.0.1:80", false},
		{"[fd12::1]:80", true},
		{"[fd13::1]:80", false},
		{"[64:ff9b::8.8.8.8]:80", true},
		{"[64:ff9b::10.20.3.4]:80", true},
		{"[64:ff9b::127.0.0.1]:80", false},
		{"[64:ff9b::169.254.169.254]:80", false},
	}
	for _, tt := range tests {
		for how, ask := range map[string]func() error{
			"TLS":   func() error { return g.secure(t.Context(), "tcp", tt.address, nil) },
			"plain": func() error { return g.plain(t.Context(), "tcp", tt.address, nil) },
		} {
			if err := ask(); (err == nil) != tt.want {
				t.Errorf("%s with %s: %v", tt.address, how, err)
			}
		}
	}
}
