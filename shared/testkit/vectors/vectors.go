// Package vectors checks published test vectors of wire 2. The table tests of
// the packages and the program e2e/vectors run the same checks.
//
// The one rule: a file is understood whole. A member no check reads, or one
// that is missing, fails the file; an expectation nobody looks at is none.
//
// A family is added in two steps: a function that turns a file into vectors,
// in a file named after the family, and a row in families.go.
package vectors

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Vector is one expectation of a file.
type Vector struct {
	Name  string
	Check func() error // nil: the implementation reaches the expected outcome
}

// A family turns the content of a file into its vectors.
type family func(data []byte) ([]Vector, error)

// number is what tells files of one family apart: x-1, x-2, x-2-1.
var number = regexp.MustCompile(`(-[0-9]+)+$`)

// Family names the family of a file: its base name without the numbers at its end.
func Family(path string) string {
	return number.ReplaceAllString(strings.TrimSuffix(filepath.Base(path), ".json"), "")
}

// Load reads a file and returns its vectors; an unknown family is an error.
func Load(path string) ([]Vector, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(Family(path), data)
}

func parse(name string, data []byte) ([]Vector, error) {
	f, ok := families[name]
	if !ok {
		return nil, fmt.Errorf("no checks for the family %q", name)
	}
	vs, err := f(data)
	if err == nil && len(vs) == 0 {
		err = fmt.Errorf("no vector in the file")
	}
	return vs, err
}
