package cmdline

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// As on a disk that fills up half way.
func TestAFileIsWholeOrNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	full := errors.New("no space left on device")
	err := NewFile(path, func(w io.Writer) error { io.WriteString(w, "half"); return full })
	if _, there := os.Stat(path); !errors.Is(err, full) || !os.IsNotExist(there) {
		t.Fatalf("NewFile = %v, and the file: %v", err, there)
	}
	whole := func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }
	if err := NewFile(path, whole); err != nil {
		t.Fatal(err)
	}
	if err := NewFile(path, whole); !os.IsExist(err) {
		t.Errorf("over a file: %v", err)
	}
	info, err := os.Stat(path)
	if got, _ := os.ReadFile(path); err != nil || string(got) != "whole" || info.Mode().Perm() != 0o600 {
		t.Errorf("it holds %q, %v, %v", got, info.Mode(), err)
	}
	if err := NewFile("/dev/stdout", whole); err == nil {
		t.Error("a device was written to")
	}
}
