package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	good, err := os.ReadFile("../../shared/codec/testdata/jcs-number-tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file, content string
		ok                  bool
		says                string
	}{
		{"a file as published", "jcs-number-tokens.json", string(good), true, "28 passed, 0 failed"},
		{"another number at the end", "jcs-number-tokens-2.json", string(good), true, "28 passed, 0 failed"},
		{"a wrong expectation", "jcs-number-tokens.json", strings.Replace(string(good), "4.35", "4.36", 1), false, "27 passed, 1 failed"},
		{"a member nobody reads", "jcs-number-tokens.json", strings.Replace(string(good), `"cases"`, `"also":1,"cases"`, 1), false, "FAIL jcs-number-tokens.json"},
		{"a missing member", "jcs-number-tokens.json", `{"name":"x","cases":[{"in":"1"}]}`, false, "FAIL"},
		{"no vectors", "jcs-number-tokens.json", `{"name":"x","cases":[]}`, false, "FAIL"},
		{"no JSON", "jcs.json", `x`, false, "FAIL"},
		{"an unknown family", "jcs-else.json", string(good), false, `no checks for the family "jcs-else"`},
		{"nothing to check", "README.md", "", false, "0 passed, 0 failed"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		passed, failed, err := run(&out, dir)
		if ok := err == nil && failed == 0 && passed > 0; ok != tt.ok || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: ok = %v, want %v and %q in\n%s", tt.name, ok, tt.ok, tt.says, out.String())
		}
	}
	if _, _, err := run(&bytes.Buffer{}, "no/such/folder"); err == nil {
		t.Error("a missing folder is no error")
	}
}
