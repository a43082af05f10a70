package embedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/anet-hub/anet/shared/errs"
)

// Made tells whether dataDir holds a database, running or not.
func Made(dataDir string) bool {
	return cluster{dir: filepath.Join(dataDir, clusterName)}.version() != 0
}

// Attach gives the connection URL of the server that an owner keeps running
// on dataDir. Without one that takes connections it is an errs.Unavailable:
// "database_not_ready" where the folder has an owner all the same, else
// "database_not_running". A folder of another user is an errs.Forbidden
// "data_dir_closed".
func Attach(dataDir string) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	p, err := readPostmaster(filepath.Join(dir, clusterName))
	if err == nil && p.ready() {
		return p.url(), nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", errs.New(errs.Forbidden, "data_dir_closed",
			"%s belongs to another user: run this as the user of the hub, or as root", dir)
	}
	if pid, owned := ownerOfFolder(dir); owned {
		return "", errs.New(errs.Unavailable, "database_not_ready",
			"the anet-hub of %s (process %d) is just starting or stopping, and its database takes no connections: try again in a moment", dir, pid)
	}
	return "", errs.New(errs.Unavailable, "database_not_running",
		"no hub is running on %s: start it with \"anet-hub serve --data-dir %s\", or name the folder of one that runs with --data-dir, or its database", dir, dir)
}

// ownerOfFolder is the process that owns a data folder, if there is one. The lock
// is tried only where the process that wrote its number there is alive: a hub that
// starts in this very moment has not written it, and must find the lock free.
func ownerOfFolder(dataDir string) (pid int, owned bool) {
	path := filepath.Join(dataDir, lockName)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !(postmaster{pid: pid}).there() {
		return 0, false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if free {
		_ = lock.Unlock()
	}
	return pid, err == nil && !free
}
