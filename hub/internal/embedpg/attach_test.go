package embedpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

// Who asks while a hub makes its database, or while its server comes up, is not
// told to start one.
func TestAFolderWithAnOwnerIsStarting(t *testing.T) {
	t.Parallel()
	c := openedCluster(t)
	lock, err := c.own()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("process %d", os.Getpid())
	for _, status := range []string{"", "starting", "stopping"} {
		serverSays(t, c, status)
		_, err := Attach(c.dataDir)
		if !errs.Is(err, "database_not_ready") || !strings.Contains(err.Error(), want) {
			t.Errorf("Attach while the server says %q = %v, want database_not_ready naming this process", status, err)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(c.dataDir); !errs.Is(err, "database_not_running") {
		t.Errorf("Attach without an owner = %v, want database_not_running", err)
	}
}

func TestALookLeavesTheFolderFree(t *testing.T) {
	t.Parallel()
	c := openedCluster(t)
	lock, err := c.own() // which writes the number of this process
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Unlock()
	if pid, owned := ownerOfFolder(c.dataDir); owned {
		t.Errorf("process %d owns a folder that was given back", pid)
	}
	if _, err := c.own(); err != nil {
		t.Errorf("the folder after a look: %v", err)
	}
}

func openedCluster(t *testing.T) cluster {
	t.Helper()
	c, err := openCluster(dataDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serverSays leaves the file of a server in that state; empty means that none was
// started yet.
func serverSays(t *testing.T, c cluster, status string) {
	t.Helper()
	if status == "" {
		return
	}
	text := fmt.Sprintf("%d\n%s\n1\n5432\n/tmp\n\n1 1\n%s\n", os.Getpid(), c.dir, status)
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, pidFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
