package service

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/anet-hub/anet/node/internal/peercred"
)

// socket is a Unix socket that only its owner may have put there. Whoever could
// replace it would be handed every call and the bearer token.
type socket struct {
	path string
	// trusted is the folder from which the check begins, "/" outside tests.
	trusted string
}

// distrust says why a socket is not connected to.
type distrust struct{ why string }

func (d *distrust) Error() string { return d.why }

func untrusted(format string, args ...any) error {
	return &distrust{fmt.Sprintf(format, args...)}
}

// dial connects and returns the connection only when its other end was set up by
// this user or root. The path is checked first; what is believed is the owner
// of the very socket that was connected, since the path may change in between.
func (s socket) dial(ctx context.Context) (net.Conn, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, err
	}
	if err := checkListener(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (s socket) check() error {
	if err := checkFolders(s.trusted, filepath.Dir(s.path)); err != nil {
		return err
	}
	info, err := os.Lstat(s.path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return untrusted("%s is no socket", s.path)
	case info.Mode().Perm()&0o002 != 0:
		return untrusted("%s may be written by every user", s.path)
	}
	return checkOwner(s.path, info)
}

// maxLinks bounds the symlinks on a path, as the system does.
const maxLinks = 40

// checkFolders walks from a trusted folder to dir, through symlinks, and refuses
// a step that another user could exchange: a folder or link of somebody else, or
// a folder others may write to. A sticky folder such as /tmp is one of those,
// since anybody may be the first to put something there.
func checkFolders(trusted, dir string) error {
	below, ok := strings.CutPrefix(filepath.Clean(dir), strings.TrimSuffix(trusted, "/"))
	if !ok {
		return untrusted("%s is not below %s", dir, trusted)
	}
	todo, at := strings.Split(below, "/"), trusted
	for links := 0; len(todo) > 0; {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		target, err := checkStep(next)
		if err != nil {
			return err
		}
		if target == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return untrusted("%s leads through too many symlinks", dir)
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return nil
}

// checkStep checks one folder, or a symlink, whose target it returns.
func checkStep(path string) (target string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if err := checkOwner(path, info); err != nil {
		return "", err
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return os.Readlink(path)
	case !info.IsDir():
		return "", untrusted("%s is no folder", path)
	case info.Mode().Perm()&0o022 != 0:
		return "", untrusted("the folder %s may be written by other users (mode %04o); they could replace the socket", path, info.Mode().Perm())
	}
	return "", nil
}

// checkListener asks who called listen on the other end, before the first byte
// goes out.
func checkListener(conn *net.UnixConn) error {
	uid, err := peercred.UID(conn)
	switch {
	case err != nil:
		return untrusted("%v; set allow_tcp and use http://127.0.0.1", err)
	case !peercred.Friend(uid):
		return untrusted("the socket was opened by user %d, who is neither this user nor root", uid)
	}
	return nil
}

func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !peercred.Friend(stat.Uid) {
		return untrusted("%s belongs to another user", path)
	}
	return nil
}
