package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// through are headers as they came, one line after the other.
func through(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func TestClientAddress(t *testing.T) {
	const outside, proxy, socket = "203.0.113.7:1", "127.0.0.1:1", "@"
	tests := []struct {
		name, header, peer string
		sent               http.Header
		want               string
	}{
		{"the peer", realIP, outside, nil, "203.0.113.7"},
		{"IPv6 counts by /64", realIP, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::/64"},
		{"a mapped IPv4 is IPv4", realIP, "[::ffff:203.0.113.7]:1", nil, "203.0.113.7"},
		{"a link's zone does not count", realIP, "[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"a proxy that says nothing", realIP, proxy, nil, "127.0.0.1"},
		{"a socket of this machine", realIP, socket, nil, "local"},
		{"a socket of this machine, without a name", realIP, "", nil, "local"},

		{"X-Real-IP from outside", realIP, outside, through("X-Real-IP: 198.51.100.1"), "203.0.113.7"},
		{"X-Forwarded-For from outside", forwardedFor, outside, through("X-Forwarded-For: 198.51.100.1"), "203.0.113.7"},
		{"Forwarded from outside", forwarded, outside, through("Forwarded: for=198.51.100.1"), "203.0.113.7"},
		{"all of them from outside", forwarded, outside, through("X-Real-IP: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1"), "203.0.113.7"},

		{"a proxy on loopback", realIP, proxy, through("X-Real-IP: 198.51.100.1"), "198.51.100.1"},
		{"a proxy at a socket", realIP, socket, through("X-Real-IP: 198.51.100.1"), "198.51.100.1"},
		{"a proxy by its mapped address", realIP, "[::ffff:127.0.0.1]:1", through("X-Real-IP: 198.51.100.1"), "198.51.100.1"},
		{"a client in IPv6", realIP, proxy, through("X-Real-IP: 2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64"},
		{"a client in mapped IPv4", realIP, proxy, through("X-Real-IP: ::ffff:198.51.100.1"), "198.51.100.1"},
		{"a client with a zone", realIP, proxy, through("X-Real-IP: fe80::1%eth0"), "fe80::/64"},
		{"blanks around it", realIP, proxy, through("X-Real-IP:  198.51.100.1 "), "198.51.100.1"},
		{"a client on this machine", realIP, proxy, through("X-Real-IP: 127.0.0.9"), "127.0.0.9"},
		{"nonsense", realIP, proxy, through("X-Real-IP: garbage"), "127.0.0.1"},
		{"a list, which this header has none of", realIP, proxy, through("X-Real-IP: 198.51.100.1, 198.51.100.2"), "127.0.0.1"},
		{"two of them, one a client's", realIP, proxy, through("X-Real-IP: 198.51.100.1", "X-Real-IP: 198.51.100.2"), "127.0.0.1"},
		{"the others are not looked at", realIP, proxy, through("X-Real-IP: 198.51.100.1", "X-Forwarded-For: 198.51.100.2", "Forwarded: for=198.51.100.3"), "198.51.100.1"},
		{"and do not stand in", realIP, proxy, through("X-Forwarded-For: 198.51.100.2", "Forwarded: for=198.51.100.3"), "127.0.0.1"},

		{"the last one was written by the proxy", forwardedFor, proxy, through("X-Forwarded-For: 192.0.2.1, 198.51.100.1"), "198.51.100.1"},
		{"on a line of its own", forwardedFor, proxy, through("X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 198.51.100.1"), "198.51.100.1"},
		{"two proxies", forwardedFor, proxy, through("X-Forwarded-For: 192.0.2.1, 198.51.100.1, 10.0.0.9"), "198.51.100.1"},
		{"two proxies, two lines", forwardedFor, proxy, through("X-Forwarded-For: 192.0.2.1,198.51.100.1", "X-Forwarded-For: 10.0.0.9"), "198.51.100.1"},
		{"a trusted address that a client wrote", forwardedFor, proxy, through("X-Forwarded-For: 10.0.0.1, 198.51.100.1"), "198.51.100.1"},
		{"nobody but proxies", forwardedFor, proxy, through("X-Forwarded-For: 10.0.0.1, 10.0.0.2"), "10.0.0.1"},
		{"with a port", forwardedFor, proxy, through("X-Forwarded-For: 198.51.100.1:4711"), "198.51.100.1"},
		{"in brackets", forwardedFor, proxy, through("X-Forwarded-For: [2001:db8:1:2::3]"), "2001:db8:1:2::/64"},
		{"in brackets with a port", forwardedFor, proxy, through("X-Forwarded-For: [2001:db8:1:2::3]:4711"), "2001:db8:1:2::/64"},
		{"nonsense in front", forwardedFor, proxy, through("X-Forwarded-For: ', 198.51.100.1"), "198.51.100.1"},
		{"nonsense behind a proxy", forwardedFor, proxy, through("X-Forwarded-For: 198.51.100.1, garbage, 10.0.0.9"), "10.0.0.9"},
		{"nothing behind the comma", forwardedFor, proxy, through("X-Forwarded-For: 198.51.100.1,"), "127.0.0.1"},
		{"very many", forwardedFor, proxy, through("X-Forwarded-For: " + strings.Repeat("10.0.0.1,", 3000) + "198.51.100.1"), "198.51.100.1"},

		{"RFC 7239", forwarded, proxy, through("Forwarded: for=198.51.100.1;proto=https;by=203.0.113.43"), "198.51.100.1"},
		{"its last element", forwarded, proxy, through("Forwarded: for=192.0.2.1, for=198.51.100.1"), "198.51.100.1"},
		{"its names in any case and place", forwarded, proxy, through("Forwarded: proto=https; FOR=198.51.100.1"), "198.51.100.1"},
		{"quoted, in brackets, with a port", forwarded, proxy, through(`Forwarded: for="[2001:db8:1:2::3]:4711"`), "2001:db8:1:2::/64"},
		{"two proxies in Forwarded", forwarded, proxy, through("Forwarded: for=198.51.100.1", "Forwarded: for=10.0.0.9"), "198.51.100.1"},
		{"a quote left open by a client", forwarded, proxy, through(`Forwarded: for="192.0.2.1, for=198.51.100.1`), "198.51.100.1"},
		{"a comma in a client's quote", forwarded, proxy, through(`Forwarded: for="a,b", for=198.51.100.1`), "198.51.100.1"},
		{"one that hides", forwarded, proxy, through("Forwarded: for=_hidden, for=10.0.0.9"), "10.0.0.9"},
		{"one nobody knows", forwarded, proxy, through("Forwarded: for=unknown"), "127.0.0.1"},
		{"without a for", forwarded, proxy, through("Forwarded: by=198.51.100.1"), "127.0.0.1"},
	}
	f := newFixture(t)
	for _, tt := range tests {
		f.api.Proxies = Proxies{Header: tt.header, Trusted: []netip.Prefix{
			netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header = tt.peer, tt.sent
		if got := f.api.clientBucket(r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestProxyHeaderInAnyCase(t *testing.T) {
	for name, want := range map[string]string{"x-real-ip": realIP, "X-FORWARDED-FOR": forwardedFor, "forwarded": forwarded, "X-Client-IP": "", "": ""} {
		if got, err := ProxyHeader(name); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("ProxyHeader(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
}

// Whatever is written there, the nearest proxy has the last word.
func FuzzForgedHeaders(f *testing.F) {
	for _, s := range []string{"", `for="`, `a,b"`, "for=1.2.3.4", `\"`, "[::1]:1"} {
		f.Add(s)
	}
	p := Proxies{Header: forwarded, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	f.Fuzz(func(t *testing.T, forged string) {
		for header, said := range map[string]string{forwardedFor: "198.51.100.1", forwarded: "for=198.51.100.1"} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, p.Header = "127.0.0.1:1", header
			r.Header[header] = []string{forged + ", " + said}
			if got := p.client(r).String(); got != "198.51.100.1" {
				t.Errorf("%s: %s, %s gives %s", header, forged, said, got)
			}
		}
	})
}
