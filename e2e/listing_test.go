package e2e

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// The directory lists what a node serves, not what it once served.
func TestListingFollowsWhatIsServed(t *testing.T) {
	database := pgtest.URL(t)
	hub := stage.HubInside(t, func(c *app.Config) { c.DatabaseURL = database })
	a, b := stage.StartProgram(t, nil), stage.StartProgram(t, nil)
	config := stage.NodeConfig{
		Name: "node", Public: []any{"p.a", "p.b"}, Programs: map[string]string{"p.a": a.URL, "p.b": b.URL},
		More: map[string]any{"hub_url": hub.URL},
	}
	node := stage.StartNode(t, &hub.Hub, config)
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	listed := func(id string) []wire.Agent {
		var found wire.Agents
		hub.Get(t, "/agents?cap="+id).Ask(t, &found)
		return found.Agents
	}
	if len(listed("p.a")) != 1 || len(listed("p.b")) != 1 {
		t.Fatal("the node is not found by what it serves")
	}
	t.Run("what was taken out of the configuration is gone after a restart", func(t *testing.T) {
		node.OK("down")
		delete(config.Programs, "p.b")
		node.Configure(config)
		node.Launch()
		stage.Until(t, stage.Patience, "p.b is listed no longer", func() bool { return len(listed("p.b")) == 0 })
		node.Registered()
		if len(listed("p.a")) != 1 {
			t.Error("p.a is gone with it")
		}
	})
	t.Run("a crashed node turns quiet, is hidden, and is back after one poll", func(t *testing.T) {
		node.Kill()
		for _, tt := range []struct {
			silent time.Duration
			found  int
		}{{59 * time.Minute, 1}, {61 * time.Minute, 1}, {29 * 24 * time.Hour, 1}, {31 * 24 * time.Hour, 0}} {
			silence(t, database, node.AID, tt.silent)
			found := listed("p.a")
			if len(found) != tt.found {
				t.Fatalf("silent for %s: %d agents are listed, want %d", tt.silent, len(found), tt.found)
			}
			if quiet := tt.silent >= wire.QuietAfter; len(found) == 1 && found[0].Quiet != quiet {
				t.Errorf("silent for %s: quiet %v, want %v", tt.silent, found[0].Quiet, quiet)
			}
		}
		node.Launch()
		stage.Until(t, stage.Patience, "the node is listed again", func() bool {
			found := listed("p.a")
			return len(found) == 1 && !found[0].Quiet
		})
	})
	t.Run("a call whose program is gone says so", func(t *testing.T) {
		a.Stop()
		task, code := caller.Call(node.AID, "p.a", `{}`)
		if got := stage.Outcome(task); code != 4 || got != "rejected UNAVAILABLE unavailable verified" {
			t.Errorf("exit %d, %s, want 4, rejected UNAVAILABLE unavailable verified", code, got)
		}
		a.Start(t)
		if task, code := caller.Call(node.AID, "p.a", `{}`); code != 0 {
			t.Errorf("the program is back: exit %d, %s", code, stage.Outcome(task))
		}
	})
}

// silence makes the hub believe that it last heard of an agent so long ago.
func silence(t *testing.T, database, aid string, since time.Duration) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	stage.Must(t, err)
	defer conn.Close(t.Context())
	at := time.Now().Add(-since)
	_, err = conn.Exec(t.Context(), `UPDATE agent SET registered_at = least(registered_at, $2) WHERE aid = $1`, aid, at)
	stage.Must(t, err)
	tag, err := conn.Exec(t.Context(), `UPDATE agent_seen SET last_seen = $2 WHERE aid = $1`, aid, at)
	stage.Must(t, err)
	if tag.RowsAffected() != 1 {
		t.Fatalf("the hub has written down no sign of life of %s", aid)
	}
}
