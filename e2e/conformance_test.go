package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// checklist is how many numbers the checklist of wire 2 has.
const checklist = 68

var (
	ruleRow   = regexp.MustCompile(`^\| (\d+) \| .+ \| (.+) \|$`)
	proofName = regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9_]+)`")
	toCome    = regexp.MustCompile(`to come with (the )?(payment|reviews|approval queue|federation|direct transport)`)
)

// The page that says what is proven names tests that exist, and leaves nothing
// out: every number has a test, or the part of the project that brings it.
func TestConformancePageIsTrue(t *testing.T) {
	page, err := os.ReadFile("../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for line := range strings.Lines(string(page)) {
		m := ruleRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if seen[n] {
			t.Errorf("rule %d stands on the page twice", n)
		}
		seen[n] = true
		checkProof(t, n, m[2])
	}
	for n := 1; n <= checklist; n++ {
		if !seen[n] {
			t.Errorf("rule %d is missing", n)
		}
	}
}

func checkProof(t *testing.T, n int, proof string) {
	t.Helper()
	tests := proofName.FindAllStringSubmatch(proof, -1)
	if len(tests) == 0 && !toCome.MatchString(proof) {
		t.Errorf("rule %d has neither a test nor a part to come: %s", n, proof)
	}
	for _, m := range tests {
		if !testExists(t, m[1], m[2]) {
			t.Errorf("rule %d names %s.%s, which does not exist", n, m[1], m[2])
		}
	}
}

func testExists(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
