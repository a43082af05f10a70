package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/anet-hub/anet/shared/errs"
)

// File is a backup on its way. Under its name it appears whole or not at all.
type File struct {
	*os.File
	path  string
	force bool
}

// Create begins a file. One that is there is an errs.Conflict "file_exists"
// unless it may be replaced.
func Create(path string, force bool) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errs.New(errs.Invalid, "file_is_folder", "%s is a folder: name a file in it", path)
	case err == nil && !force:
		return nil, exists(path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	sweep(path)
	f, err := os.CreateTemp(filepath.Dir(path), begun(path)) // mode 0600
	if err != nil {
		return nil, err
	}
	return &File{File: f, path: path, force: force}, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

func begun(path string) string { return "." + filepath.Base(path) + ".part-*" }

func exists(path string) error {
	return errs.New(errs.Conflict, "file_exists", "%s is there already: name another file, or replace it with --force", path)
}

// sweep removes what was killed in the middle: its lock went with the process.
func sweep(path string) {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), begun(path)))
	for _, name := range left {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

// Keep gives the file its name, once all of it is on the disk.
func (f *File) Keep() error {
	defer f.Discard()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write the backup to the disk: %w", err)
	}
	if err := f.place(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// place replaces nothing that appeared meanwhile, where the file system knows
// links.
func (f *File) place() error {
	if f.force {
		return os.Rename(f.Name(), f.path)
	}
	switch err := os.Link(f.Name(), f.path); {
	case errors.Is(err, fs.ErrExist):
		return exists(f.path)
	case err != nil:
		return os.Rename(f.Name(), f.path)
	}
	return nil
}

// Discard removes what has no name yet. It may be called at any time, and twice.
func (f *File) Discard() {
	_ = os.Remove(f.Name())
	_ = f.Close()
}
