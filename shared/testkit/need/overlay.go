package need

import (
	"os/exec"
	"strings"
	"testing"
)

// Overlay wants a machine on which root can lay a folder over the whole system and
// change it there.
func Overlay(t testing.TB) {
	t.Helper()
	Root(t)
	unshare := Program(t, "unshare")
	try := exec.Command(unshare, "--mount", "--pid", "--fork", "sh", "-euc",
		`mount -t tmpfs tmpfs /mnt && cd /mnt && mkdir u w m && mount -t overlay overlay -o lowerdir=/etc,upperdir=u,workdir=w m`)
	if out, err := try.CombinedOutput(); err != nil {
		lack(t, "nothing can be laid over the system: %v: %s", err, strings.TrimSpace(string(out)))
	}
}
