package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
)

// socketName is the socket in the data folder, or a link to where it is.
const socketName = "anet.sock"

// maxPath is the longest path a Unix socket can have on Linux.
const maxPath = 107

// place is where to listen. A data folder whose path is too long for a socket
// has it in the user's runtime folder, under a name of its own.
func place(dir datadir.Dir) (path string, linked bool, err error) {
	if path := dir.Path(socketName); len(path) <= maxPath {
		return path, false, nil
	}
	folder, err := runtimeFolder()
	if err != nil {
		return "", false, err
	}
	sum := sha256.Sum256([]byte(dir.String()))
	return filepath.Join(folder, "anet-"+hex.EncodeToString(sum[:8])+".sock"), true, nil
}

// locate is where the node listens. A link is followed here, since the system
// would refuse the long path before it reads the link; so the two processes
// need not have the same environment.
func locate(dir datadir.Dir) (string, error) {
	path := dir.Path(socketName)
	if len(path) <= maxPath {
		return path, nil
	}
	return os.Readlink(path)
}

// runtimeFolder is the first of the usual places that is this user's alone.
func runtimeFolder() (string, error) {
	uid := os.Geteuid()
	for _, folder := range []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", uid)} {
		if folder != "" && private(folder) == nil && len(folder) < maxPath-30 {
			return folder, nil
		}
	}
	folder := filepath.Join("/tmp", fmt.Sprintf("anet-%d", uid))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := private(folder); err != nil {
		return "", errs.New(errs.Forbidden, "runtime_dir_unusable",
			"no folder for the control socket: %v; set XDG_RUNTIME_DIR to a folder of yours, or choose a data folder with a shorter path", err)
	}
	return folder, nil
}

// private refuses a folder, or a link, that another user could change.
func private(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", folder)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to other users", folder)
	}
	return nil
}
