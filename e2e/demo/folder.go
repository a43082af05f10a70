package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// newFolders makes the demo's folders. A node believes a program's socket only
// where nobody else could have put it, so theirs lie below a folder of this
// user; the hub's lie in the temporary folder, since as root it runs its
// database as somebody else, who could not enter root's.
func newFolders() (nodes, hub string, err error) {
	if nodes, err = ownFolder(); err != nil {
		return "", "", err
	}
	if hub, err = os.MkdirTemp("", "anet-demo-"); err != nil {
		return "", "", err
	}
	return nodes, hub, os.Chmod(hub, 0o711)
}

// ownFolder makes a folder where no step of the path is anybody else's.
func ownFolder() (string, error) {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	var tried []string
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", os.Geteuid()), home, here, "/run"} {
		if base == "" || len(base) > 60 {
			continue
		}
		dir, err := within(base)
		if err == nil {
			return dir, nil
		}
		tried = append(tried, err.Error())
	}
	return "", fmt.Errorf("no folder for the nodes, whose programs' sockets must lie where no other user can write; "+
		"set XDG_RUNTIME_DIR to one (%s)", strings.Join(tried, "; "))
}

func within(base string) (string, error) {
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		return "", err
	}
	if err := private(real); err != nil {
		return "", err
	}
	return os.MkdirTemp(real, "anet-demo-")
}

var errShared = errors.New("other users can write there")

// private looks at every step from the root down.
func private(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		mine := ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
		if !mine || info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s: %w", at, errShared)
		}
		if at == "/" {
			return nil
		}
	}
}
