package outbound

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server that answers every question for an IPv4 address with the
// next of its list, and with the last from then on.
type names struct {
	mu    sync.Mutex
	list  []netip.Addr
	asked int
}

func (n *names) next() netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.list[min(n.asked, len(n.list)-1)]
	n.asked++
	return at
}

// resolver asks the server and nobody else.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go n.serve(l)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", l.LocalAddr().String())
	}}
}

func (n *names) serve(l net.PacketConn) {
	for buf := make([]byte, 1500); ; {
		size, from, err := l.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil {
			continue
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
				Body:   &dnsmessage.AResource{A: n.next().As4()},
			}}
		}
		if answer, err := m.Pack(); err == nil {
			_, _ = l.WriteTo(answer, from)
		}
	}
}

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// A name that leads inside is refused, whatever it is called.
func TestNamesAreNoWayIn(t *testing.T) {
	port, reached := inside(t, "127.0.0.1")
	n := &names{list: addrs("127.0.0.1")}
	c := New(Options{Timeout: time.Minute, resolver: n.resolver(t)})
	for _, scheme := range []string{"http", "https"} {
		_, _, err := c.Get(t.Context(), scheme+"://hub.example.org:"+port+"/", most)
		refuses(t, scheme, err, "address_refused")
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

// A name that leads elsewhere by the next call is looked at by the next call. The
// first answer is what a check before the call would have seen.
func TestNamesThatChange(t *testing.T) {
	port, reached := inside(t, "127.0.0.2")
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "the peer")
	})}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	n := &names{list: addrs("127.0.0.1", "127.0.0.2")}
	c := New(Options{Allow: prefixes("127.0.0.1/32"), Timeout: time.Minute, resolver: n.resolver(t)})
	url := "http://hub.example.org:" + port + "/"
	if _, body, err := c.Get(t.Context(), url, most); err != nil || string(body) != "the peer" {
		t.Fatalf("the first call: %q, %v", body, err)
	}
	_, _, err = c.Get(t.Context(), url, most)
	refuses(t, "the second call", err, "address_refused")
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

// A redirect is resolved as anew as a call.
func TestNamesOfRedirects(t *testing.T) {
	port, reached := inside(t, "127.0.0.2")
	from := redirectingTo(t, "http://hub.example.org:"+port+"/")
	n := &names{list: addrs("127.0.0.2")}
	c := New(Options{Allow: prefixes("127.0.0.1/32"), Timeout: time.Minute, resolver: n.resolver(t)})
	_, _, err := c.Get(t.Context(), from, most)
	refuses(t, "a redirect to a name that leads inside", err, "address_refused")
	if strings.Contains(err.Error(), port) || reached.Load() > 0 {
		t.Errorf("%v after %d connections", err, reached.Load())
	}
}
