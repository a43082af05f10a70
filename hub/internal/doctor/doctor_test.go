package doctor

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// healthy is the look at a hub that nothing is wrong with. It is at example.com,
// for which the certificates of httptest are.
type healthy struct {
	Case
	facts     *postgres.Facts
	addresses []netip.Addr
	answer    http.HandlerFunc // of the hub
	plain     http.HandlerFunc // of port 80; nil: closed
	client    func(r *http.Request) string
	largest   int64 // body that passes
	peer      string
}

func newHealthy(t *testing.T) *healthy {
	t.Helper()
	key, err := identity.NewController(rand.Reader, time.Now())
	must(t, err)
	now := time.Now()
	h := &healthy{
		facts: &postgres.Facts{
			Version: "15.4", Free: 100, Direct: true, Schema: 40, Known: 40,
			Settings: map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "archive_mode": "off", "max_connections": "100"},
			Backups:  true, BackupTaken: now.Add(-time.Hour), BackupProven: now.Add(-time.Hour),
		},
		addresses: []netip.Addr{netip.MustParseAddr("198.51.100.7")},
		client:    func(*http.Request) string { return "192.0.2.9" },
		largest:   1 << 30, peer: "127.0.0.1",
	}
	h.plain = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://example.com"+r.URL.Path, http.StatusMovedPermanently)
	}
	h.answer = h.hub(key)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.answer(w, r) }))
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.plain(w, r) }))
	t.Cleanup(srv.Close)
	t.Cleanup(plain.Close)
	h.Case = Case{
		URL: &url.URL{Scheme: "https", Host: "example.com"}, Roots: x509.NewCertPool(), Now: time.Now, Tell: func(string) {},
		Inside: Inside{Key: key, Facts: h.facts, Conns: 16, Dir: t.TempDir()},
		Resolve: func(context.Context, string, string) ([]netip.Addr, error) {
			if len(h.addresses) == 0 {
				return nil, errors.New("no such host")
			}
			return h.addresses, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			to := srv.Listener.Addr().String()
			switch {
			case strings.HasPrefix(address, "[2001:db8::1]"):
				return nil, errors.New("connection refused")
			case strings.HasSuffix(address, ":80") && h.plain == nil:
				return nil, errors.New("connection refused")
			case strings.HasSuffix(address, ":80"):
				to = plain.Listener.Addr().String()
			}
			return (&net.Dialer{}).DialContext(ctx, network, to)
		},
	}
	h.Roots.AddCert(srv.Certificate())
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *healthy) hub(key *identity.Controller) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if n > h.largest {
			http.Error(w, "<html>too large</html>", http.StatusRequestEntityTooLarge)
			return
		}
		w.Header().Set(wire.HeaderRequest, "x")
		var v any = struct{}{}
		switch r.URL.Path {
		case "/hub/identity":
			v = wire.Identity{AID: key.AID(), PublicURL: "https://example.com"}
		case "/limits":
			v = wire.Limits{Bodies: wire.BodyLimits{Send: 4 << 20}}
		case "/relay/send":
			w.WriteHeader(http.StatusUnauthorized)
		case "/hub/probe":
			if strings.Contains(r.Header.Get(wire.HeaderAID), key.AID()) {
				v = wire.Probed{Client: h.client(r), Peer: h.peer, PeerTrusted: true, ProxyHeader: "X-Real-Ip", Bytes: n}
			}
		}
		json.NewEncoder(w).Encode(v)
	}
}

func TestAHealthyHub(t *testing.T) {
	h := newHealthy(t)
	var told []string
	h.Tell = func(check string) { told = append(told, check) }
	got := h.Examine(t.Context())
	if got.Findings() != 0 || len(got) < 14 || len(told) != 14 {
		t.Errorf("%d checks were told, found %s", len(told), words(got))
	}
}

func words(r checkup.Results) string {
	var b strings.Builder
	for _, one := range r {
		fmt.Fprintf(&b, "\n%s %s: %s", one.Status, one.Check, one.Message)
	}
	return b.String()
}

func TestFindings(t *testing.T) {
	later := func(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
	tests := []struct {
		name  string
		spoil func(*healthy)
		check string
		says  string
	}{
		{"no DNS", func(h *healthy) { h.addresses = nil }, "dns", "does not resolve"},
		{"a name of this machine alone", func(h *healthy) { h.addresses = []netip.Addr{netip.MustParseAddr("127.0.1.1")} }, "dns", "127.0.1.1"},
		{"a private address", func(h *healthy) { h.addresses = []netip.Addr{netip.MustParseAddr("10.0.0.1")} }, "dns", "private"},
		{"an AAAA that leads nowhere", func(h *healthy) { h.addresses = append(h.addresses, netip.MustParseAddr("2001:db8::1")) }, "connection", "[2001:db8::1]:443"},
		{"a certificate of another name", func(h *healthy) { h.URL.Host = "hub.example.org" }, "certificate", "another name: example.com"},
		{"a certificate of nobody", func(h *healthy) { h.Roots = x509.NewCertPool() }, "certificate", "vouches"},
		{"a certificate that ended", func(h *healthy) { h.Now = later(100 * 365 * 24 * time.Hour) }, "certificate", "ended on"},
		{"plain HTTP", func(h *healthy) { h.URL.Scheme = "http" }, "certificate", "plain HTTP"},
		{"port 80 closed", func(h *healthy) { h.plain = nil }, "redirect", "does not answer"},
		{"port 80 serves", func(h *healthy) { h.plain = h.answer }, "redirect", "without TLS"},
		{"port 80 leads elsewhere", func(h *healthy) {
			h.plain = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://other.example", http.StatusMovedPermanently)
			}
		}, "redirect", "other.example"},
		{"a page in the place of the hub", func(h *healthy) {
			h.answer = func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>It works!") }
		}, "hub", "no hub answers"},
		{"another hub", func(h *healthy) { h.answer = h.hub(other(t)) }, "hub", "another hub"},
		{"a hub that is not ready", func(h *healthy) {
			hub := h.answer
			h.answer = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/readyz" {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				hub(w, r)
			}
		}, "hub", "not ready"},
		{"a limit on bodies", func(h *healthy) { h.largest = 1 << 20 }, "body", "4.0 MiB does not pass: 413"},
		{"the same, seen without a key", func(h *healthy) { h.largest, h.Inside = 1<<20, Inside{None: true} }, "body", "4.0 MiB does not pass: 413"},
		{"a client believed", func(h *healthy) { h.client = func(r *http.Request) string { return r.Header.Get("X-Real-Ip") } }, "client", "a client's own X-Real-Ip is believed"},
		{"one client for all", func(h *healthy) { h.peer = "10.0.0.3"; h.client = func(*http.Request) string { return "10.0.0.3" } }, "client", "sees every client as 10.0.0.3"},
		{"a clock that is off", func(h *healthy) { h.Now = later(10*time.Minute + 30*time.Second) }, "clock", "hub's machine is 10m"},
		{"a database whose clock is off", func(h *healthy) { h.facts.Ahead = -time.Hour }, "clock", "database's machine is 1h0m0s off"},
		{"no database", func(h *healthy) { h.Inside = Inside{Err: errors.New("connection refused")} }, "database", "connection refused"},
		{"a database that forgets", func(h *healthy) { h.facts.Settings["fsync"] = "off" }, "database", "fsync is off"},
		{"mail that is lost", func(h *healthy) { h.facts.Settings["synchronous_commit"] = "off" }, "database", "synchronous_commit is off"},
		{"few connections", func(h *healthy) { h.facts.Free = 3 }, "database", "3 connections are left of max_connections = 100"},
		{"a pooler alone", func(h *healthy) { h.facts.Pooled, h.facts.Direct = true, false }, "database", "no direct URL"},
		{"an old schema", func(h *healthy) { h.facts.Schema = 4 }, "schema", "version 4, this program knows 40"},
		{"a schema too new", func(h *healthy) { h.facts.Served = errors.New("run a newer program") }, "schema", "a newer program"},
		{"no backup", func(h *healthy) { h.facts.BackupTaken = time.Time{} }, "backup", "none was ever taken"},
		{"an old backup", func(h *healthy) { h.facts.BackupTaken = time.Now().Add(-72 * time.Hour) }, "backup", "the newest one is of"},
		{"a backup nobody tried", func(h *healthy) { h.facts.BackupProven = time.Time{} }, "backup", "none of the last month"},
	}
	for _, tt := range tests {
		h := newHealthy(t)
		tt.spoil(h)
		got := h.Examine(t.Context())
		if !has(got, tt.check, tt.says) {
			t.Errorf("%s: want %s: %q, found %s", tt.name, tt.check, tt.says, words(got))
		}
		for _, r := range got {
			if r.Status == checkup.Finding && (r.Why == "" || r.Next == "") {
				t.Errorf("%s: %s says neither why nor what to do", tt.name, r.Check)
			}
		}
	}
}

func has(all checkup.Results, check, says string) bool {
	for _, r := range all {
		if r.Check == check && r.Status == checkup.Finding && strings.Contains(r.Message, says) {
			return true
		}
	}
	return false
}

func other(t *testing.T) *identity.Controller {
	c, err := identity.NewController(rand.Reader, time.Now())
	must(t, err)
	return c
}

// From another machine there is no key and no database, and that is no finding.
func TestFromElsewhere(t *testing.T) {
	h := newHealthy(t)
	h.Inside = Inside{None: true}
	if got := h.Examine(t.Context()); got.Findings() != 0 {
		t.Errorf("found %s", words(got))
	}
}

func TestACertificateThatIsNotRenewed(t *testing.T) {
	h := newHealthy(t)
	end := time.Date(2084, time.January, 29, 16, 0, 0, 0, time.UTC) // of httptest's
	h.Now = func() time.Time { return end.Add(-10 * 24 * time.Hour) }
	if got := h.Examine(t.Context()); !has(got, "certificate", "is not renewed") {
		t.Errorf("found %s", words(got))
	}
}
