package outbound

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anet-hub/anet/shared/errs"
)

const most = 1 << 10 // bytes of an answer, in these tests

// open is a client that may call this machine.
func open(t *testing.T, allow ...string) *Client {
	t.Helper()
	if allow == nil {
		allow = []string{"127.0.0.1/32"}
	}
	c := New(Options{Allow: prefixes(allow...), Timeout: time.Minute, Version: "test"})
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// inside is a service that nobody outside may reach, and counts who does.
func inside(t *testing.T, at string) (port string, reached *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Fatal(err)
	}
	reached = &atomic.Int32{}
	s := &httptest.Server{Listener: l, Config: &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") }),
		ConnState: func(_ net.Conn, to http.ConnState) { reached.Add(map[http.ConnState]int32{http.StateNew: 1}[to]) },
	}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, reached
}

func redirectingTo(t *testing.T, url string) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url, http.StatusFound) })
}

// refuses holds a call to a reason, and to repeating nothing of what is inside.
func refuses(t *testing.T, says string, err error, reason string) {
	t.Helper()
	if !errs.Is(err, reason) || err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("%s: %v, want %s", says, err, reason)
	}
}

func TestAddressesInsideAreNotCalled(t *testing.T) {
	port, reached := inside(t, "127.0.0.1")
	c := New(Options{Timeout: time.Minute})
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::ffff:7f00:1]", "127.1.2.3"} {
		for _, scheme := range []string{"http", "https"} {
			_, _, err := c.Get(t.Context(), scheme+"://"+host+":"+port+"/", most)
			refuses(t, scheme+" to "+host, err, "address_refused")
		}
	}
	// Spellings that only some resolvers read. Whatever one makes of them, nobody
	// is connected to.
	for _, host := range []string{"0x7f.1", "2130706433", "127.1", "0177.0.0.1", "0x7f000001"} {
		if _, _, err := c.Get(t.Context(), "http://"+host+":"+port+"/", most); err == nil {
			t.Errorf("%s was called", host)
		}
	}
	for _, url := range []string{"file:///etc/passwd", "gopher://127.0.0.1:" + port, "ftp://127.0.0.1", "//127.0.0.1", "127.0.0.1"} {
		_, _, err := c.Get(t.Context(), url, most)
		if err == nil || reached.Load() > 0 {
			t.Errorf("%s was called", url)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestRedirects(t *testing.T) {
	port, reached := inside(t, "127.0.0.2")
	c := open(t)
	for _, to := range []string{"http://127.0.0.2:" + port + "/", "https://127.0.0.2:" + port + "/", "http://[::1]/", "http://169.254.169.254/latest", "file:///etc/passwd"} {
		_, _, err := c.Get(t.Context(), redirectingTo(t, to), most)
		refuses(t, "a redirect to "+to, err, "address_refused")
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections were made", n)
	}

	hops := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var left int
		fmt.Sscanf(r.URL.Path, "/%d", &left)
		if left == 0 {
			io.WriteString(w, "here")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
	})
	if _, body, err := c.Get(t.Context(), hops+"/3", most); err != nil || string(body) != "here" {
		t.Errorf("three redirects give %q, %v", body, err)
	}
	_, _, err := c.Get(t.Context(), hops+"/4", most)
	refuses(t, "four redirects", err, "redirect_refused")
}

func TestOnlyGetIsRedirected(t *testing.T) {
	var came atomic.Int32
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { came.Add(1) })
	c := open(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		from := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, status) })
		_, _, err := c.Post(t.Context(), from, []byte("{}"), most)
		refuses(t, fmt.Sprintf("a POST met with %d", status), err, "redirect_refused")
		req, _ := http.NewRequest(http.MethodGet, from, nil)
		_, _, _, err = c.Do(t.Context(), req, most)
		refuses(t, fmt.Sprintf("a signed GET met with %d", status), err, "redirect_refused")
	}
	if n := came.Load(); n > 0 {
		t.Errorf("%d were sent on", n)
	}
}

func TestTLSIsNotLeft(t *testing.T) {
	to := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "plain") })
	from := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }))
	t.Cleanup(from.Close)
	c := open(t)
	_, _, err := c.Get(t.Context(), from.URL, most)
	refuses(t, "a certificate of nobody's", err, "peer_unreachable")
	trust(c, from)
	_, _, err = c.Get(t.Context(), from.URL, most)
	refuses(t, "from https to http", err, "redirect_refused")
}

func trust(c *Client, s *httptest.Server) {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c.secure.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	c.secure.TLSClientConfig.RootCAs = roots
}

func TestAnswersAreBounded(t *testing.T) {
	tests := []struct {
		says, reason string
		answer       http.HandlerFunc
	}{
		{"10 GB that are announced", "answer_too_large", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "10000000000") }},
		{"an answer without an end", "answer_too_large", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write(make([]byte, 512))
			}
		}},
		{"one byte too much", "answer_too_large", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, most+1)) }},
		{"headers without an end", "peer_unreachable", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("x", 1<<20)) }},
		{"a connection cut off", "peer_unreachable", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	}
	for _, tt := range tests {
		_, body, err := open(t).Get(t.Context(), serve(t, tt.answer), most)
		if !errs.Is(err, tt.reason) || body != nil {
			t.Errorf("%s: %v, want %s", tt.says, err, tt.reason)
		}
	}
}

// An answer has its time as a whole, however it comes.
func TestAnswersHaveATime(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a byte now and then": func(w http.ResponseWriter, r *http.Request) {
			for after(r.Context(), time.Second) {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
		},
	}
	for says, answer := range tests {
		inBubble(t, answer, func(t *testing.T, c *Client) {
			began := time.Now()
			_, body, err := c.Get(t.Context(), "http://peer.example", most)
			if took := time.Since(began); !errs.Is(err, "answer_too_slow") || body != nil || took != usualTimeout {
				t.Errorf("%s: %v after %s", says, err, took)
			}
		})
	}
}

// A bomb is what it weighs: nothing is unpacked.
func TestNothingIsUnpacked(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("asked for %s", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "packed")
	})
	if _, body, err := open(t).Get(t.Context(), url, most); err != nil || string(body) != "packed" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestWhatArrives(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", r.Header.Get("User-Agent")+" "+r.Header.Get("X-ANet-AID"))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Content-Type"), body)
	})
	c := open(t)
	status, body, err := c.Post(t.Context(), url, []byte(`{"a":1}`), most)
	if err != nil || status != http.StatusTeapot || string(body) != `POST application/json {"a":1}` {
		t.Errorf("a POST gives %d %q, %v", status, body, err)
	}
	req, _ := http.NewRequest(http.MethodGet, url, nil)
	req.Header.Set("X-ANet-AID", "me")
	if _, header, _, err := c.Do(t.Context(), req, most); err != nil || header.Get("X-Seen") != "anet-hub/test me" {
		t.Errorf("a request of its own arrives as %q, %v", header.Get("X-Seen"), err)
	}
}

func TestGivingUpIsNoFailureOfThePeer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if _, _, err := open(t).Get(ctx, url, most); !errors.Is(err, context.Canceled) {
		t.Errorf("it fails with %v", err)
	}
}

// deaf is an address at which nobody listens, and nobody else can while it is held.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
}

func TestUnreachable(t *testing.T) {
	c := open(t)
	_, _, err := c.Get(t.Context(), "http://"+deaf(t), most)
	if refuses(t, "a closed port", err, "peer_unreachable"); !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("it says %v", err)
	}
	_, _, err = c.Get(t.Context(), strings.Replace(serve(t, func(http.ResponseWriter, *http.Request) {}), "http:", "https:", 1), most)
	if refuses(t, "no TLS", err, "peer_unreachable"); !strings.Contains(err.Error(), "does not speak TLS") {
		t.Errorf("it says %v", err)
	}
}

// Whoever sends one byte a second has to send them within the time of the whole.
func TestTimeGrowsWithSize(t *testing.T) {
	c := New(Options{})
	for bytes, want := range map[int64]time.Duration{0: 10 * time.Second, 1 << 20: 11 * time.Second, 96 << 20: 106 * time.Second} {
		if got := c.within(bytes); got != want {
			t.Errorf("%d bytes may take %s, want %s", bytes, got, want)
		}
	}
	if c.plain.Proxy != nil || c.secure.Proxy != nil {
		t.Error("a proxy would decide where calls lead")
	}
}

func TestIdentityIsRead(t *testing.T) {
	tests := []struct {
		says, body string
		status     int
		reason     string
	}{
		{"a hub", `{"aid":"bafy","kel":"AQID","public_url":"https://x","more":1}`, 200, ""},
		{"no JSON", `<html>secret</html>`, 200, "peer_not_a_hub"},
		{"two AIDs", `{"aid":"a","aid":"b","kel":"AQID"}`, 200, "peer_not_a_hub"},
		{"no history", `{"aid":"bafy"}`, 200, "peer_not_a_hub"},
		{"an error", `secret`, 503, "peer_refused"},
		{"much", `{"aid":"` + strings.Repeat("a", maxIdentity) + `"}`, 200, "answer_too_large"},
	}
	for _, tt := range tests {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/hub/identity" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		id, err := open(t).Identity(t.Context(), url)
		if tt.reason == "" {
			if err != nil || id.AID != "bafy" || string(id.KEL) != "\x01\x02\x03" {
				t.Errorf("%s: %+v, %v", tt.says, id, err)
			}
			continue
		}
		refuses(t, tt.says, err, tt.reason)
	}
}

// A peer that says when to ask again is heard, whatever else it answers.
func TestGetHearsWhenToAskAgain(t *testing.T) {
	for _, tt := range []struct {
		status int
		after  string
		want   time.Duration
	}{
		{429, "7", 7 * time.Second}, {503, "7", 7 * time.Second}, {429, "", 0}, {503, "soon", 0}, {429, "-7", 0}, {200, "7", 0},
	} {
		p := peerThat(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.after)
			w.WriteHeader(tt.status)
		})
		status, _, err := local().Get(t.Context(), p.Endpoint+"/x", 10)
		switch e := errs.As(err); {
		case tt.want > 0 && (e == nil || e.Reason != "peer_busy" || e.RetryAfter != tt.want):
			t.Errorf("%d after %q: %v", tt.status, tt.after, err)
		case tt.want == 0 && (err != nil || status != tt.status):
			t.Errorf("%d after %q: %d, %v", tt.status, tt.after, status, err)
		}
	}
}
