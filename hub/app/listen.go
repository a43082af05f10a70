package app

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/anet-hub/anet/shared/errs"
)

// listen binds the address. It comes before everything else: a hub that finds
// its address taken must not have made a database first. Whoever connects before
// the hub is up waits for it in the system's queue.
func (c *Config) listen() (net.Listener, error) {
	ln, err := net.Listen("tcp", c.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, errs.New(errs.Conflict, "address_in_use",
			"something listens on %s already, perhaps another hub (\"ss -ltnp\" names it): stop it, or choose another address with --listen", c.Listen)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w (choose another address with --listen)", c.Listen, err)
	}
	return ln, nil
}
