package e2e

import (
	"syscall"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// killDatabase is kill -9 of the private server under a hub that runs.
func killDatabase(t *testing.T, hub *stage.HubProcess) {
	t.Helper()
	pid := hub.Postmaster()
	if pid == 0 {
		t.Fatal("the hub runs no database of its own")
	}
	stage.Must(t, syscall.Kill(pid, syscall.SIGKILL))
}
