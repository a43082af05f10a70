// Command vectors checks a folder of published test vectors against this
// implementation:
//
//	go run ./e2e/vectors -dir DIR
//
// It prints one line a vector and ends with status 1 when one fails, when a
// file belongs to no known family, or when there was nothing to check.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

func main() {
	dir := flag.String("dir", ".", "folder whose *.json files are checked")
	flag.Parse()
	passed, failed, err := run(os.Stdout, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

func run(w io.Writer, dir string) (passed, failed int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		p, f := check(w, filepath.Join(dir, e.Name()))
		passed, failed = passed+p, failed+f
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", passed, failed)
	return passed, failed, nil
}

func check(w io.Writer, file string) (passed, failed int) {
	base := filepath.Base(file)
	vs, err := vectors.Load(file)
	if err != nil {
		fmt.Fprintf(w, "FAIL %s: %s\n", base, oneLine(err.Error()))
		return 0, 1
	}
	for _, v := range vs {
		if err := v.Check(); err != nil {
			fmt.Fprintf(w, "FAIL %s %s: %s\n", base, oneLine(v.Name), oneLine(err.Error()))
			failed++
			continue
		}
		fmt.Fprintf(w, "ok  %s %s\n", base, oneLine(v.Name))
		passed++
	}
	return passed, failed
}

// oneLine keeps a text on its line, whatever a file put into it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
