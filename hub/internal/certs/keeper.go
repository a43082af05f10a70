// Package certs obtains and renews the certificates of a hub that does its own
// TLS, by ACME (RFC 8555) through autocert.
//
// The one rule: only Run asks the certificate authority for what is missing, and
// autocert by its own clock for what is to be renewed. They ask for the names that
// were configured and no others, Run in one process of a hub at a time, and slowly
// after a failure: whoever connects can make nobody ask.
package certs

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/anet-hub/anet/shared/errs"
)

// Store keeps what the processes of one hub share.
type Store interface {
	// Load gives what is kept under a name; a NotFound error when nothing is.
	Load(ctx context.Context, name string) ([]byte, error)
	Store(ctx context.Context, name string, data []byte) error
	Forget(ctx context.Context, name string) error
	// TakeTurn makes it who's turn to ask until then, or longer; false where it
	// is another's.
	TakeTurn(ctx context.Context, who string, until time.Time) (bool, error)
	EndTurn(ctx context.Context, who string) error
}

// Options say what to obtain, and from whom.
type Options struct {
	Names     []string // checked by Name; the first serves who names none
	Email     string
	Directory string
	Roots     *x509.CertPool // for the directory; nil: the system's
	Agent     string         // how it introduces itself
	Store     Store
	Now       func() time.Time
	Log       *slog.Logger
}

// Keeper holds the certificates of one process.
type Keeper struct {
	Options
	who        string
	manager    *autocert.Manager
	challenges http.Handler
	heard      *witness

	tried func() // closes first, once
	first chan struct{}

	mu     sync.Mutex
	leaves map[string]*x509.Certificate // of the names that can be served
}

// New makes a keeper. Nothing is asked before Run.
func New(o Options) *Keeper {
	k := &Keeper{Options: o, who: newID(), leaves: map[string]*x509.Certificate{}, first: make(chan struct{})}
	k.tried = sync.OnceFunc(func() { close(k.first) })
	k.heard = &witness{base: transport(o.Roots)}
	k.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Email: o.Email, Cache: cache{o.Store, o.Log},
		HostPolicy: autocert.HostWhitelist(o.Names...),
		Client: &acme.Client{
			DirectoryURL: o.Directory, UserAgent: o.Agent,
			HTTPClient: &http.Client{Transport: k.heard, Timeout: 30 * time.Second},
		},
	}
	k.challenges = k.manager.HTTPHandler(http.NotFoundHandler())
	return k
}

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Tried is closed once every name has its certificate, or a first attempt to
// obtain one has failed.
func (k *Keeper) Tried() <-chan struct{} { return k.first }

// TLS is how connections are taken: HTTP/2, and TLS 1.2 for clients that are not
// older than the network.
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: k.certificate,
		NextProtos: []string{"h2", "http/1.1", acme.ALPNProto},
	}
}

// certificate serves what there is. The hello is not passed on as it came: one
// that knows RSA alone would have autocert ask for a second certificate.
func (k *Keeper) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" {
		name = k.Names[0]
	}
	switch {
	case !slices.Contains(k.Names, name):
		return nil, errs.New(errs.NotFound, "name_unknown", "this hub has no such name")
	case slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}):
		return k.manager.GetCertificate(hello)
	case k.leaf(name) == nil:
		return nil, errs.New(errs.Unavailable, "certificate_missing", "there is no certificate yet")
	}
	return k.ask(name)
}

// ask obtains a certificate, or gives the one that is kept.
func (k *Keeper) ask(name string) (*tls.Certificate, error) {
	return k.manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
}

func (k *Keeper) leaf(name string) *x509.Certificate {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.leaves[name]
}

func (k *Keeper) serve(name string, leaf *x509.Certificate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaves[name] = leaf
	k.Log.Info("serving a certificate", "domain", name, "not_after", leaf.NotAfter, "issuer", leaf.Issuer.String())
}

// Expiry is when the first of the certificates ends; the zero time while one is
// missing.
func (k *Keeper) Expiry() (first time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range k.Names {
		leaf := k.leaves[name]
		switch {
		case leaf == nil:
			return time.Time{}
		case first.IsZero() || leaf.NotAfter.Before(first):
			first = leaf.NotAfter
		}
	}
	return first
}
