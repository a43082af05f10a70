// Package authority runs an ACME certificate authority for tests: pebble, of the
// people behind Let's Encrypt, with a DNS of its own. It really connects to whom
// it certifies, at the ports it is told.
package authority

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

// Options say what the authority does. A port where nobody listens is one that
// it cannot reach.
type Options struct {
	HTTPPort, TLSPort int
	Lifetime          time.Duration // of certificates; a year where 0
	Blocked           string        // a name it certifies for nobody
	Unresolved        string        // a name that its DNS does not know
}

// Authority is one that runs until the test ends.
type Authority struct {
	Directory string         // URL
	CAFile    string         // what to trust at the directory
	Roots     *x509.CertPool // what to trust of its certificates
	Root      []byte         // the same, in PEM

	issued atomic.Int64
}

// Issued is how many certificates it was made to issue. An order may be tried
// again, after one of the nonces that pebble refuses at random.
func (a *Authority) Issued() int { return int(a.issued.Load()) }

// hurry lets pebble not wait at random before it looks at a challenge.
var hurry = sync.OnceValue(func() error { return os.Setenv("PEBBLE_VA_NOSLEEP", "1") })

// Start starts one.
func Start(t testing.TB, o Options) *Authority {
	t.Helper()
	must(t, hurry())
	words, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	if o.Blocked != "" {
		must(t, store.AddBlockedDomain(o.Blocked))
	}
	issuer := ca.New(words, store, "", "ecdsa", 0, 1, map[string]ca.Profile{
		"default": {Description: "for tests", ValidityPeriod: uint64(o.Lifetime.Seconds())}})
	judge := va.New(words, o.HTTPPort, o.TLSPort, false, resolver(t, o.Unresolved), store)
	front := wfe.New(words, store, judge, issuer, []string{"anet.test"}, false, false, 1, 1)
	a := &Authority{}
	a.serve(t, front.Handler())
	a.Roots, a.Root = x509.NewCertPool(), issuer.GetRootCert(0).PEM()
	if !a.Roots.AppendCertsFromPEM(a.Root) {
		t.Fatal("the authority has no root")
	}
	return a
}

func (a *Authority) serve(t testing.TB, h http.Handler) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(seen, r)
		if strings.HasPrefix(r.URL.Path, "/finalize-order/") && seen.code == http.StatusOK {
			a.issued.Add(1)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who do not trust it, on purpose
	t.Cleanup(srv.Close)
	a.Directory = srv.URL + wfe.DirectoryPath
	a.CAFile = filepath.Join(t.TempDir(), "directory.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	must(t, os.WriteFile(a.CAFile, text, 0o644))
}

type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
