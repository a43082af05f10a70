package e2e

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// killDatabase is kill -9 of the private server under a hub that runs.
func killDatabase(t *testing.T, hub *stage.HubProcess) {
	t.Helper()
	if !hub.KillDatabase() {
		t.Fatal("the hub runs no database of its own")
	}
}
