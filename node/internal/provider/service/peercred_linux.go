package service

import (
	"net"

	"golang.org/x/sys/unix"
)

// checkListener asks the kernel who called listen on the other end. It is asked
// of the connected descriptor before the first byte goes out; the process id is
// left alone, as it may have been given to another process by now.
func checkListener(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	switch {
	case credErr != nil:
		return credErr
	case !friend(cred.Uid):
		return untrusted("the socket was opened by user %d, who is neither this user nor root", cred.Uid)
	}
	return nil
}
