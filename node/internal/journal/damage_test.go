package journal

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// A damaged file is named, with what to do, by the start of a node and by a
// check; an undamaged one passes the check, in use or not.
func TestADamagedJournal(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"another file":    func([]byte) []byte { return bytes.Repeat([]byte("no database "), 1000) },
		"cut":             func(b []byte) []byte { return b[:5000] },
		"a page of zeros": func(b []byte) []byte { clear(b[4096:8192]); return b },
		"all but a page":  func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xa5}, len(b)-4096)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			j, err := Open(t.Context(), path, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(t.Context(), path); err != nil {
				t.Errorf("Check of a journal in use = %v, want nil", err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			wantsDamaged(t, "Check", Check(t.Context(), path), path)
			_, err = Open(context.Background(), path, time.Now)
			wantsDamaged(t, "Open", err, path)
		})
	}
}

func wantsDamaged(t *testing.T, what string, err error, path string) {
	t.Helper()
	if !errs.Is(err, "journal_damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("%s = %v, want journal_damaged naming %s", what, err, path)
	}
}

func TestNothingToCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := Check(t.Context(), path); err != nil {
		t.Errorf("Check of no file = %v, want nil", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("Check made a file")
	}
}
