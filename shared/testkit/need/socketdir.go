package need

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// SocketDir is a new folder for Unix sockets that no other user could replace:
// every folder on the way to it is root's or this user's and closed to others.
// The usual temporary folder is open to all, and t.TempDir too long besides, as
// the path of a socket ends at 107 bytes.
func SocketDir(t testing.TB) string {
	t.Helper()
	for _, base := range privateFolders() {
		dir, err := os.MkdirTemp(base, "anet")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	lack(t, "no folder that is closed to other users, such as /run/user/%d or the home folder", os.Geteuid())
	return ""
}

// privateFolders are places to try, the shortest paths first.
func privateFolders() (closed []string) {
	home, _ := os.UserHomeDir()
	for _, dir := range []string{"/run", os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", os.Geteuid()), home} {
		if filepath.IsAbs(dir) && closedToOthers(dir) {
			closed = append(closed, dir)
		}
	}
	return closed
}

func closedToOthers(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o022 != 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}
