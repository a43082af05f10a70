package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// Up --detach says why the hub has not taken the node in, and the node goes on
// trying: nothing has to be done when the hub is back.
func TestUpWithoutItsHub(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	node := stage.JoinNode(t, hub.Hub, stage.NodeConfig{Name: "patient", Tags: []string{"a.tag"}})
	t.Cleanup(func() { node.Run("down") })
	hub.Stop(t)

	out := node.Run("up", "--detach")
	if out.Code != 4 || !strings.Contains(out.Err, "cannot be reached") || !strings.Contains(out.Err, "goes on trying") {
		t.Errorf("up without the hub: %s, want exit 4 and why", out)
	}
	if s, up := node.Status(); !up || s.Registered {
		t.Errorf("the node is up %v, registered %v; want it up and not registered", up, s.Registered)
	}
	hub.Again(t)
	stage.Until(t, stage.Patience, "the node is registered again", func() bool {
		s, up := node.Status()
		return up && s.Registered
	})
	node.OK("down")
}

// A node that is started the moment it was killed comes up: what is left of the
// killed process is no other node, and no error.
func TestUpRightAfterAKill(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	node := stage.JoinNode(t, hub.Hub, stage.NodeConfig{Name: "phoenix"})
	t.Cleanup(func() { node.Run("down") })
	for range 10 {
		node.OK("up", "--detach")
		pid := detachedPID(t, node)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	node.OK("up", "--detach")
}

func detachedPID(t *testing.T, node *stage.Node) int {
	t.Helper()
	out := node.OK("doctor", "--json")
	m := regexp.MustCompile(`runs as process (\d+)`).FindStringSubmatch(out.Out)
	if m == nil {
		t.Fatalf("doctor names no process:\n%s", out)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
