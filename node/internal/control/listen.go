package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/anet-hub/anet/node/internal/peercred"
)

// Listen opens the control socket. Only the holder of the claim may, so a
// socket that is there already was left behind.
func (c *Claim) Listen() (net.Listener, error) {
	path, linked, err := place(c.dir)
	if err != nil {
		return nil, err
	}
	if err := forget(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	// Its folder is closed to others already, so there is no moment in which one
	// of them could come in.
	if err = os.Chmod(path, 0o600); err == nil && linked {
		err = c.link(path)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	return listener{l}, nil
}

func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what an earlier node left: %w", err)
	}
	return nil
}

// link tells clients the way when the socket lies elsewhere.
func (c *Claim) link(path string) error {
	at := c.dir.Path(socketName)
	if err := forget(at); err != nil {
		return err
	}
	return os.Symlink(path, at)
}

// listener accepts this user and root. The folder's mode says the same; this
// holds even where somebody was handed the socket or opened the folder.
type listener struct{ *net.UnixListener }

func (l listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peercred.UID(conn); err == nil && peercred.Friend(uid) {
			return conn, nil
		}
		conn.Close()
	}
}
