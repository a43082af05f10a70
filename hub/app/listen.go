package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const unixPrefix = "unix:"

// listen binds an address, given by a flag. It comes before everything else: a
// hub that finds its address taken must not have made a database first. Whoever
// connects before the hub is up waits for it in the system's queue.
func listen(flag, address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		return listenUnix(path)
	}
	ln, err := listenTCP(address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, errs.New(errs.Conflict, "address_in_use",
			"something listens on %s already, perhaps another hub (\"ss -ltnp\" names it): stop it, or choose another address with %s", address, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, errs.New(errs.Forbidden, "address_forbidden",
			"listening on %s needs a right: start as root, or with the capability CAP_NET_BIND_SERVICE (AmbientCapabilities= of a systemd unit), or choose a port above 1023 with %s and forward to it", address, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w (choose another address with %s)", address, err, flag)
	}
	return ln, nil
}

// letGo is how long an address may be held by what is left of a hub that was killed: a
// child that it was about to start has its listener until it runs a program of its own.
const letGo = 5 * time.Second

func listenTCP(address string) (net.Listener, error) {
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		ln, err := net.Listen("tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) > letGo {
			return ln, err
		}
	}
}

// listenUnix makes a socket that whoever may enter its folder may connect to,
// in the place of one that nobody serves any more.
func listenUnix(path string) (net.Listener, error) {
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return nil, errs.New(errs.Conflict, "address_in_use", "another process serves %s: stop it, or choose another path with --listen", path)
	} else if info, bad := os.Stat(path); bad == nil && info.Mode().Type() == os.ModeSocket && errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(path) // what cannot be removed is told next
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (its folder has to exist, and the path to be shorter than 108 bytes)", path, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}
