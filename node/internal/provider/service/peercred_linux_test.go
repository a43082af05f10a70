package service

import (
	"errors"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// The path may be right and the listener still be somebody else's: the socket
// was replaced after the look at it.
func TestAnotherUsersListenerIsNotTrusted(t *testing.T) {
	need.Root(t)
	for _, tt := range []struct {
		name string
		uid  int
		safe bool
	}{{"root", 0, true}, {"nobody", 65534, false}} {
		path := folder(t) + "/s"
		must(t, os.Chmod(folderOf(path), 0o777))
		l := listenAs(t, tt.uid, path)
		conn, err := net.Dial("unix", path)
		must(t, err)
		var d *distrust
		if err := checkListener(conn.(*net.UnixConn)); errors.As(err, &d) == tt.safe {
			t.Errorf("listener of %s: checkListener = %v, want safe %v", tt.name, err, tt.safe)
		}
		conn.Close()
		l.Close()
	}
}

func folderOf(path string) string { return path[:len(path)-len("/s")] }

// listenAs calls listen in a thread that is another user's for the moment; the
// kernel keeps users by thread, and this one ends with its goroutine.
func listenAs(t *testing.T, uid int, path string) net.Listener {
	t.Helper()
	type result struct {
		l   net.Listener
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread()
		keep := ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
			done <- result{nil, errno}
			return
		}
		l, err := net.Listen("unix", path)
		done <- result{l, err}
	}()
	r := <-done
	must(t, r.err)
	return r.l
}
