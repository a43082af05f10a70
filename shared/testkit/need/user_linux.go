package need

import (
	"runtime"
	"syscall"
	"testing"
)

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
