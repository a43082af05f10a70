package datadir

import (
	"fmt"
	"os"
	"syscall"
)

// Write replaces a file (mode 0600) so that a reader, or a machine that loses
// power, meets either the old bytes or the new ones.
func (d Dir) Write(name string, data []byte) error {
	if err := d.replace(name, data); err != nil {
		return fmt.Errorf("write %s: %w", d.Path(name), err)
	}
	return nil
}

func (d Dir) replace(name string, data []byte) error {
	tmp, err := os.CreateTemp(d.path, "."+name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp, data); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), d.Path(name)); err != nil {
		return err
	}
	return d.sync()
}

func fill(f *os.File, data []byte) error {
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// sync makes the rename itself durable.
func (d Dir) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Change runs read-modify-write of a file with other processes kept out: two
// commands typed at the same moment both take effect. A missing file reads as
// empty; a change that leaves the bytes as they are writes nothing.
func (d Dir) Change(name string, change func(old []byte) ([]byte, error)) error {
	unlock, err := d.lock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", d.path, err)
	}
	defer unlock()
	old, err := d.Read(name)
	missing := os.IsNotExist(err)
	if err != nil && !missing {
		return err
	}
	changed, err := change(old)
	if err != nil || (!missing && string(changed) == string(old)) {
		return err
	}
	return d.Write(name, changed)
}

// lock takes the folder itself, so there is no lock file to be left behind.
func (d Dir) lock() (unlock func(), err error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
