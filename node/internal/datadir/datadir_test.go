package datadir

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestResolvePicksTheFirstThatIsSaid(t *testing.T) {
	tests := []struct{ name, flag, env, want string }{
		{"flag", "/a/b", "/c", "/a/b"},
		{"environment", "", "/c", "/c"},
	}
	for _, tt := range tests {
		t.Setenv(EnvVar, tt.env)
		if got, err := Resolve(tt.flag); err != nil || got != tt.want {
			t.Errorf("%s: Resolve = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	t.Setenv(EnvVar, "")
	if got, err := Resolve(""); err != nil || filepath.Base(got) != "anet" || !filepath.IsAbs(got) {
		t.Errorf("default = %q, %v", got, err)
	}
}

func TestOpenWantsAPrivateFolder(t *testing.T) {
	base := t.TempDir()
	made, err := Open(filepath.Join(base, "new", "anet"))
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(made.String()); info.Mode().Perm() != 0o700 {
		t.Errorf("created with mode %v, want 0700", info.Mode().Perm())
	}
	shared, file := filepath.Join(base, "shared"), filepath.Join(base, "file")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(shared); !errs.Is(err, "data_dir_open") {
		t.Errorf("a folder others can enter: %v", err)
	}
	if _, err := Open(file); !errs.Is(err, "data_dir_unusable") {
		t.Errorf("a file for a folder: %v", err)
	}
}

func TestSecretsAreReadOnlyWhilePrivate(t *testing.T) {
	dir := open(t)
	if err := dir.Write("key", []byte("k")); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.ReadSecret("key"); err != nil || string(got) != "k" {
		t.Errorf("ReadSecret = %q, %v", got, err)
	}
	if err := os.Chmod(dir.Path("key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.ReadSecret("key"); !errs.Is(err, "secret_file_open") {
		t.Errorf("a secret others can read: %v", err)
	}
}

func TestChangesAtOnceAllTakeEffect(t *testing.T) {
	dir := open(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := dir.Change("n", func(old []byte) ([]byte, error) {
				n, _ := strconv.Atoi(string(old))
				return strconv.AppendInt(nil, int64(n+1), 10), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, _ := dir.Read("n"); string(got) != "20" {
		t.Errorf("after 20 increments the file says %s", got)
	}
	if left, _ := filepath.Glob(dir.Path(".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func open(t *testing.T) Dir {
	t.Helper()
	dir, err := Open(filepath.Join(t.TempDir(), "anet"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
