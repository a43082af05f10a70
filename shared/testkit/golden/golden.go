// Package golden compares with files that a person has read. "make golden"
// rewrites them; what changed is then seen in the diff.
package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// variable is set by "make golden".
const variable = "UPDATE_GOLDEN"

// Equal fails the test when got differs from the file, naming the first line
// that does.
func Equal(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv(variable) != "" {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: \"make golden\" writes it", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	line, a, b := difference(got, want)
	t.Errorf("%s is not what came out, first in line %d:\n got %q\nwant %q\n\"make golden\" rewrites it", path, line, a, b)
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func difference(got, want []byte) (line int, a, b []byte) {
	for line = 1; ; line++ {
		a, got, _ = bytes.Cut(got, []byte("\n"))
		b, want, _ = bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(a, b) || len(got)+len(want) == 0 {
			return line, a, b
		}
	}
}
