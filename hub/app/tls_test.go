package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/testkit/authority"
)

const hubName = "hub.anet.test"

// secured is a hub that does TLS, for somebody who finds it under its names.
type secured struct {
	*App
	t       *testing.T
	ca      *authority.Authority
	words   *words
	manager *net.UnixConn // where it says that it is ready
}

// words are what it logs, at the level that says most.
type words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// told leaves out the tries of a client that waits for a certificate.
func (w *words) told() string {
	var b strings.Builder
	for line := range strings.Lines(w.String()) {
		if !strings.Contains(line, "TLS handshake error") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// secure starts one, which others may find behind gates. It may be stopped before
// the test ends.
func secure(t *testing.T, ca *authority.Authority, database string, g *gates, names ...string) (s *secured, stop func()) {
	t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL, cfg.LogLevel = database, "debug"
	cfg.Listen, cfg.ListenHTTP = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Domains, cfg.PublicURL = names, "https://"+names[0]
	cfg.ACMEDirectory, cfg.ACMECAFile = ca.Directory, ca.CAFile
	s = &secured{t: t, ca: ca, words: &words{}}
	s.manager, cfg.Notify = manager(t)
	log, err := cfg.Logger(s.words)
	if err == nil {
		s.App, err = New(t.Context(), cfg, log, prometheus.NewRegistry())
	}
	if err != nil {
		t.Fatal(err)
	}
	if g != nil {
		g.tls.lead(s.at.api.Addr())
		g.plain.lead(s.at.plain.Addr())
	}
	s.slack = time.Minute
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the hub ends with %v", err)
		}
		if t.Failed() {
			t.Logf("its log:\n%s", s.words.told())
		}
	})
	t.Cleanup(stop)
	return s, stop
}

// client trusts the authority, and finds every name at this process.
func (s *secured) client(change ...func(*tls.Config)) *http.Client {
	conf := &tls.Config{RootCAs: s.ca.Roots}
	for _, f := range change {
		f(conf)
	}
	tr := &http.Transport{TLSClientConfig: conf, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			to := s.at.api.Addr().String()
			if strings.HasSuffix(address, ":80") {
				to = s.at.plain.Addr().String()
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", to)
		}}
	s.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (s *secured) get(url string, change ...func(*tls.Config)) (*http.Response, error) {
	resp, err := s.client(change...).Get(url)
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return resp, err
}

// certified waits until it serves a name, and gives the answer.
func (s *secured) certified(name string) (resp *http.Response) {
	s.t.Helper()
	testkit.Until(s.t, name+" is served with a certificate", func() bool {
		var err error
		resp, err = s.get("https://" + name + "/healthz")
		return err == nil
	})
	return resp
}

// One process obtains certificates for the names that were given and no others,
// and all processes serve them, also after a restart.
func TestCertificatesAreObtainedOnce(t *testing.T) {
	t.Parallel()
	g, database := newGates(t), pgtest.URL(t)
	ca := authority.Start(t, authority.Options{TLSPort: g.tls.port(), HTTPPort: g.plain.port()})
	names := []string{hubName, "other.anet.test"}
	a, stop := secure(t, ca, database, g, names...)
	for _, name := range names {
		resp := a.certified(name)
		if resp.ProtoMajor != 2 || resp.TLS.Version != tls.VersionTLS13 || resp.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: HTTP %d, TLS %x, %v", name, resp.ProtoMajor, resp.TLS.Version, resp.Header)
		}
	}
	b, _ := secure(t, ca, database, nil, names...)
	for _, name := range names {
		b.certified(name)
	}
	stop()
	again, _ := secure(t, ca, database, g, names...)
	for _, name := range names {
		again.certified(name)
	}
	if left := time.Until(again.hub.keeper.Expiry()); left < 80*24*time.Hour {
		t.Errorf("its metric has %s left", left)
	}
	again.refuses("a name that is not its own", "https://stranger.anet.test/", nil)
	again.refuses("an old TLS", "https://"+hubName, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	again.refuses("RSA alone", "https://"+hubName, func(c *tls.Config) {
		c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	})
	nameless, err := again.get("https://127.0.0.1/healthz", func(c *tls.Config) { c.InsecureSkipVerify = true })
	if err != nil || nameless.TLS.PeerCertificates[0].VerifyHostname(hubName) != nil {
		t.Errorf("without a name: %v, want the first one's certificate", err)
	}
	if got := ca.Issued(); got != len(names) {
		t.Errorf("the authority issued %d certificates, want %d", got, len(names))
	}
	for _, s := range []*secured{a, b, again} {
		keepsSecrets(t, database, s.words.String())
	}
}

func (s *secured) refuses(what, url string, change func(*tls.Config)) {
	s.t.Helper()
	if change == nil {
		change = func(*tls.Config) {}
	}
	if resp, err := s.get(url, change); err == nil {
		s.t.Errorf("%s is answered %s", what, resp.Status)
	}
}

// keepsSecrets looks for any line of what the database keeps.
func keepsSecrets(t *testing.T, database, log string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var kept string
	if err := conn.QueryRow(t.Context(), `SELECT string_agg(convert_from(data, 'UTF8'), E'\n') FROM acme_cache`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(kept, "PRIVATE KEY") {
		t.Error("no key is kept")
	}
	for line := range strings.Lines(kept) {
		if line = strings.TrimSpace(line); line != "" && strings.Contains(log, line) {
			t.Errorf("the log holds %q", line)
		}
	}
}

// Two processes that start at once ask once, and the authority may find its
// answer at the one that does not ask: it can only come through the database.
func TestAnyProcessAnswersChallenges(t *testing.T) {
	t.Parallel()
	g, database := newGates(t), pgtest.URL(t)
	ca := authority.Start(t, authority.Options{HTTPPort: g.plain.port(), TLSPort: nobody})
	first, _ := secure(t, ca, database, nil, hubName)
	second, _ := secure(t, ca, database, g, hubName)
	first.certified(hubName)
	second.certified(hubName)
	const asks = `"msg":"asking for a certificate"`
	if got := strings.Count(first.words.String()+second.words.String(), asks); got != 1 {
		t.Errorf("the processes asked %d times, want once", got)
	}
}

// Certificates are renewed while the hub serves; the other process follows.
func TestCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	g, database := newGates(t), pgtest.URL(t)
	ca := authority.Start(t, authority.Options{TLSPort: g.tls.port(), HTTPPort: g.plain.port(), Lifetime: time.Minute}) // it has 18 seconds to be renewed
	a, _ := secure(t, ca, database, g, hubName)
	b, _ := secure(t, ca, database, nil, hubName)
	first := a.certified(hubName).TLS.PeerCertificates[0]
	b.certified(hubName)
	for _, s := range []*secured{a, b} {
		testkit.Until(t, "another certificate is served", func() bool {
			resp, err := s.get("https://" + hubName + "/healthz")
			if err != nil {
				t.Errorf("meanwhile: %v", err)
				return true
			}
			return !resp.TLS.PeerCertificates[0].Equal(first)
		})
	}
	if a.hub.keeper.Expiry().Equal(first.NotAfter) {
		testkit.Until(t, "the metric follows", func() bool { return a.hub.keeper.Expiry().After(first.NotAfter) })
	}
}

// Whatever stands in the way, the log says what to do.
func TestNoCertificateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*authority.Options)
		spoil  func(*authority.Authority)
		says   []string
	}{
		{"ports that cannot be reached", func(o *authority.Options) { o.HTTPPort, o.TLSPort = nobody, nobody }, nil,
			[]string{"connection", "let its ports 80 and 443 through"}},
		{"a name without DNS", func(o *authority.Options) { o.Unresolved = hubName }, nil, []string{"could not resolve", "every address in its DNS"}},
		{"a name the authority refuses", func(o *authority.Options) { o.Blocked = "anet.test" }, nil,
			[]string{"rejectedIdentifier", "choose another --domain"}},
		{"a directory of nobody we trust", nil, func(a *authority.Authority) { a.CAFile = "" }, []string{"--acme-ca-file"}},
		{"a directory that is none", nil, func(a *authority.Authority) { a.Directory = "https://127.0.0.1:1/dir" }, []string{"check --acme-directory"}},
		{"another program at the name", func(o *authority.Options) {
			o.HTTPPort, o.TLSPort = nobody, nobody
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				go http.Serve(ln, http.NotFoundHandler()) // ends with the test's process
				o.HTTPPort = ln.Addr().(*net.TCPAddr).Port
			}
		}, nil, []string{"something else answers"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGates(t)
			o := authority.Options{TLSPort: g.tls.port(), HTTPPort: g.plain.port()}
			if tt.change != nil {
				tt.change(&o)
			}
			ca := authority.Start(t, o)
			if tt.spoil != nil {
				tt.spoil(ca)
			}
			s, _ := secure(t, ca, pgtest.URL(t), g, hubName)
			testkit.Until(t, "it says that there is no certificate", func() bool {
				return strings.Contains(s.words.String(), "no certificate was obtained")
			})
			for _, says := range tt.says {
				if !strings.Contains(s.words.String(), says) {
					t.Errorf("the log does not say %q", says)
				}
			}
		})
	}
}

// Port 80 sends readers to HTTPS, under a name of the hub's, and refuses the rest.
func TestPlainHTTPLeadsToTLS(t *testing.T) {
	t.Parallel()
	ca := authority.Start(t, authority.Options{Blocked: "anet.test"})
	s, _ := secure(t, ca, pgtest.URL(t), nil, hubName, "other.anet.test")
	tests := []struct {
		method, url, host string
		status            int
		says              string
	}{
		{"GET", "/agents?cap=text.*", hubName, 301, "https://hub.anet.test/agents?cap=text.*"},
		{"HEAD", "/healthz", hubName + ":80", 301, "https://hub.anet.test/healthz"},
		{"GET", "/", "OTHER.anet.test.", 301, "https://other.anet.test/"},
		{"GET", "/", "evil.example", 301, "https://hub.anet.test/"},
		{"GET", "//evil.example/", hubName, 301, "https://hub.anet.test//evil.example/"},
		{"POST", "/relay/send", hubName, 400, `"code":"https_required"`},
		{"DELETE", "/", hubName, 400, `"code":"https_required"`},
		{"GET", "/.well-known/acme-challenge/abc", hubName, 404, `"code":"challenge_unknown"`},
		{"GET", "/.well-known/acme-challenge/a%00b", hubName, 404, `"code":"challenge_unknown"`},
		{"GET", "/.well-known/acme-challenge/" + strings.Repeat("a", 300), hubName, 404, `"code":"challenge_unknown"`},
		{"GET", "/.well-known/acme-challenge/abc", "evil.example", 404, `"code":"challenge_unknown"`},
		{"GET", "/.well-known/acme-challenge/a/b", hubName, 301, "https://hub.anet.test/.well-known/acme-challenge/a/b"},
	}
	for _, tt := range tests {
		r, err := http.NewRequest(tt.method, "http://"+s.at.plain.Addr().String()+tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		resp, err := s.client().Transport.RoundTrip(withPort80(r))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if said := resp.Header.Get("Location") + string(body); resp.StatusCode != tt.status || !strings.Contains(said, tt.says) {
			t.Errorf("%s %s of %s: %s %s, want %d %s", tt.method, tt.url, tt.host, resp.Status, said, tt.status, tt.says)
		}
	}
}

func withPort80(r *http.Request) *http.Request {
	r.URL.Host = "plain:80"
	return r
}
