package embedpg

import "syscall"

// The orphans of these tests become children of the test's own process, which
// never asks how they ended: a system's first process may be slow to do so, and
// until then a killed server is still there by its number.
func init() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}
