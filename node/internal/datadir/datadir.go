// Package datadir is the folder a node lives in. It holds private keys and
// decides who may call the node, so it belongs to one user alone: a folder
// that anybody else could read or write is refused, never repaired in silence.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/adrg/xdg"

	"github.com/anet-hub/anet/shared/errs"
)

// EnvVar names the folder where no flag does.
const EnvVar = "ANET_DATA_DIR"

// Dir is a checked data folder; make one with Open.
type Dir struct{ path string }

// Resolve picks the folder: the flag, the environment, the XDG default.
func Resolve(flag string) (string, error) {
	chosen := flag
	if chosen == "" {
		chosen = os.Getenv(EnvVar)
	}
	if chosen == "" {
		chosen = filepath.Join(xdg.DataHome, "anet")
	}
	path, err := filepath.Abs(chosen)
	if err != nil {
		return "", fmt.Errorf("find the data folder: %w", err)
	}
	return path, nil
}

// Open creates the folder where it is missing and checks it where it is not.
func Open(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Dir{}, errs.New(errs.Forbidden, "data_dir_unusable",
			"the data folder %s cannot be created", path).Because(err)
	}
	if err := check(path); err != nil {
		return Dir{}, err
	}
	return Dir{path: path}, nil
}

func check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return errs.New(errs.Forbidden, "data_dir_unusable", "the data folder %s cannot be read", path).Because(err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errs.New(errs.Invalid, "data_dir_unusable", "%s is not a folder", path)
	case !ok || int(stat.Uid) != os.Geteuid():
		return errs.New(errs.Forbidden, "data_dir_foreign",
			"the data folder %s belongs to another user; run anet as its owner or choose another with %s", path, EnvVar)
	case info.Mode().Perm()&0o077 != 0:
		return errs.New(errs.Forbidden, "data_dir_open",
			"the data folder %s is open to other users (mode %04o); close it with: chmod 700 %s", path, info.Mode().Perm(), path)
	}
	return nil
}

// String is the absolute path of the folder.
func (d Dir) String() string { return d.path }

// Path is where a file of the folder stands.
func (d Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Read gives a file's bytes; a missing one is fs.ErrNotExist.
func (d Dir) Read(name string) ([]byte, error) { return os.ReadFile(d.Path(name)) }

// ReadSecret is Read for private keys: a file other users can read is refused,
// since what it held must be taken as known to them.
func (d Dir) ReadSecret(name string) ([]byte, error) {
	info, err := os.Stat(d.Path(name))
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, errs.New(errs.Forbidden, "secret_file_open",
			"%s is readable by other users (mode %04o); close it with: chmod 600 %[1]s", d.Path(name), info.Mode().Perm())
	}
	return d.Read(name)
}

// Exists says whether the folder holds the file. A link that leads nowhere is
// there: who put it meant a file, and a list that is not read must not pass for
// an empty one.
func (d Dir) Exists(name string) (bool, error) {
	_, err := os.Lstat(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// At is Open for a folder that must be there already.
func At(path string) (Dir, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Dir{}, errs.New(errs.NotFound, "data_dir_missing",
			"there is no node in %s yet; run: anet init, or anet join URL", path)
	}
	if err := check(path); err != nil {
		return Dir{}, err
	}
	return Dir{path: path}, nil
}
