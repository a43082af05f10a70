package app

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	addresses "net/mail"
	"net/url"

	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/shared/version"
)

// completeTLS fills in what follows from --domain.
func (c *Config) completeTLS(given func(flag string) bool) error {
	if len(c.Domains) == 0 {
		for _, flag := range []string{"listen-http", "acme-email", "acme-directory", "acme-ca-file"} {
			if given(flag) {
				return fmt.Errorf("--%s is for a hub that does TLS: name its --domain", flag)
			}
		}
		return nil
	}
	if !given("listen") {
		c.Listen = ":443"
	}
	if c.ListenHTTP == "" {
		c.ListenHTTP = ":80"
	}
	for i, name := range c.Domains {
		var err error
		if c.Domains[i], err = certs.Name(name); err != nil {
			return fmt.Errorf("--domain %q cannot be: %w", name, err)
		}
	}
	if c.PublicURL == "" {
		c.PublicURL = "https://" + c.Domains[0]
	}
	return c.checkACME()
}

func (c *Config) checkACME() error {
	if u, err := url.Parse(c.ACMEDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
		return errors.New("--acme-directory has to be an address such as https://acme-v02.api.letsencrypt.org/directory")
	}
	if a, err := addresses.ParseAddress(c.ACMEEmail); c.ACMEEmail != "" && (err != nil || a.Address != c.ACMEEmail) {
		return errors.New("--acme-email has to be an address such as admin@example.org")
	}
	_, err := c.acmeRoots()
	return err
}

// acmeRoots are nil for the system's own.
func (c *Config) acmeRoots() (*x509.CertPool, error) {
	pool, err := certs.Roots(c.ACMECAFile)
	if err != nil {
		return nil, fmt.Errorf("--acme-ca-file: %w", err)
	}
	return pool, nil
}

// newKeeper is nil for a hub that leaves TLS to a proxy.
func newKeeper(cfg Config, store certs.Store, log *slog.Logger) (*certs.Keeper, error) {
	if len(cfg.Domains) == 0 {
		return nil, nil
	}
	roots, err := cfg.acmeRoots()
	if err != nil {
		return nil, err
	}
	return certs.New(certs.Options{
		Names: cfg.Domains, Email: cfg.ACMEEmail, Directory: cfg.ACMEDirectory, Roots: roots,
		Agent: "anet-hub/" + version.Version, Store: store, Now: clock, Log: log,
	}), nil
}
