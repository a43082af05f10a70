package need

import (
	"runtime"
	"syscall"
	"testing"
)

// Others are users who may stand at the other end of a socket when root tests: root,
// who could do anything anyhow, and one who is nobody's friend.
var Others = []struct {
	Name   string
	UID    int
	Friend bool
}{{"root", 0, true}, {"nobody", 65534, false}}

// AsUser runs f in a thread that is another user's for the moment. The kernel
// keeps users by thread, and this one ends with its goroutine.
func AsUser[T any](t testing.TB, uid int, f func() (T, error)) T {
	t.Helper()
	var out T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		keep := ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
			err = errno
			return
		}
		out, err = f()
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	return out
}
