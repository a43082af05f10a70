package embedpg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestBarredNamesTheFolderInTheWay(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.MkdirAll(filepath.Join(closed, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := account{uid: 4_000_000_000, gid: 4_000_000_000, switched: true}
	err := stranger.barred(filepath.Join(closed, "open"))
	if !errs.Is(err, "data_dir_not_enterable") || !strings.Contains(err.Error(), "cannot enter "+closed+":") {
		t.Errorf("barred = %v, want it to name %s", err, closed)
	}
	if err := stranger.barred("/usr"); err != nil {
		t.Errorf("barred(/usr) = %v, want nil", err)
	}
}

func TestPrivateFolder(t *testing.T) {
	self := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	root := t.TempDir()
	loose := filepath.Join(root, "loose")
	if err := os.Mkdir(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(root, "linked")
	if err := os.Symlink(t.TempDir(), linked); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path string
		ok   bool
	}{
		{filepath.Join(root, "new"), true},
		{filepath.Join(root, "new"), true}, // ours already
		{loose, false},
		{linked, false},
	} {
		if err := self.privateFolder(row.path); (err == nil) != row.ok {
			t.Errorf("privateFolder(%s) = %v, want success %v", filepath.Base(row.path), err, row.ok)
		}
	}
}

func TestNobodyRunsTheServerAsRoot(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		got, err := chooseAccount(filepath.Join(dir, "postgres"), dir)
		if err != nil || got.switched {
			t.Errorf("an ordinary user: %+v, %v, want itself", got, err)
		}
		return
	}
	got, err := chooseAccount(filepath.Join(dir, "postgres"), dir)
	if err != nil || got.uid == 0 || !got.switched {
		t.Errorf("root: %+v, %v, want another user", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := chooseAccount(filepath.Join(dir, "postgres"), dir); err == nil {
		t.Error("a cluster that belongs to root was accepted")
	}
}
