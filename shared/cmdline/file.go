package cmdline

import (
	"errors"
	"io"
	"os"
)

// NewFile makes a file that only its owner reads and has fill write it. A file
// that is there already is refused by the system, a device such as /dev/stdout
// among them. One that could not be written whole is taken away again: what was
// cut would be taken for the whole, and keep the next attempt from its name.
func NewFile(path string, fill func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := fill(f); err != nil {
		return err
	}
	return f.Sync()
}
