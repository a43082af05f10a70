package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// TestCommands plays the scripts of testdata/cli: anet as people type it. They
// run side by side, each with a hub of its own, since a directory shows what
// everybody serves. In a script $HUB is the hub, $SOCKETS a folder for the
// sockets of programs, $SHOP an address that nobody listens at, and
//
//	json VAR path.to.0.member   reads a value out of the last stdout
//	until PATTERN program args  repeats a command until its stdout matches
//	sql STATEMENT               changes the hub's database behind its back
func TestCommands(t *testing.T) {
	t.Parallel()
	stage.Binary(t, "text-service")
	play(t, "testdata/cli", func(env *testscript.Env) {
		env.Setenv("HUB", discreetHub(t).URL)
		env.Setenv("SHOP", freeAddress(t))
	})
}

// TestHubCommands plays the scripts of testdata/hub: anet-hub as its operator
// types it, beside a hub that takes in by invite only.
func TestHubCommands(t *testing.T) {
	t.Parallel()
	stage.Binary(t, "anet-hub")
	play(t, "testdata/hub", func(env *testscript.Env) {
		hub := stage.HubInside(t, func(c *app.Config) { c.InviteRequired = true })
		env.Setenv("HUB", hub.URL)
		env.Setenv(app.EnvDatabaseURL, hub.Database)
	})
}

// TestPeerCommands plays the scripts of testdata/peer: an operator and the hubs to
// federate with: $PEER, and $DOWN, which does not answer.
func TestPeerCommands(t *testing.T) {
	t.Parallel()
	stage.Binary(t, "anet-hub")
	stage.Binary(t, "text-service")
	down := stage.HubInside(t, func(c *app.Config) { c.Listen = freeAddress(t) }) // which nobody else gets
	stage.Must(t, down.Stop())
	play(t, "testdata/peer", func(env *testscript.Env) {
		hub, peer := stage.HubInside(t, allowLoopback), stage.HubInside(t, tellsOfAgents)
		env.Setenv("HUB", hub.URL)
		env.Setenv("HUB_AID", hub.AID)
		env.Setenv("PEER", peer.URL)
		env.Setenv("PEER_AID", peer.AID)
		env.Setenv("DOWN", down.URL)
		env.Setenv("DOWN_AID", down.AID)
		env.Setenv("ANET_HUB_PEER_ALLOW_RANGE", "127.0.0.0/8")
		env.Setenv(app.EnvDatabaseURL, hub.Database)
	})
}

func allowLoopback(c *app.Config) { c.PeerRanges = []string{"127.0.0.0/8"} }

func tellsOfAgents(c *app.Config) { c.Discovery, c.PublicURL = "on", "https://peer.example.org" }

// play gives each script a hub of its own.
func play(t *testing.T, dir string, hub func(*testscript.Env)) {
	bin := filepath.Dir(stage.Binary(t, "anet"))
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			hub(env)
			return setUp(t, env, bin)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json": readJSON, "until": until, "sql": changeBehind,
		},
	})
}

func setUp(t *testing.T, env *testscript.Env, bin string) error {
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("SOCKETS", need.SocketDir(t))
	env.Setenv("ANET_DATA_DIR", filepath.Join(env.WorkDir, "node"))
	env.Defer(func() { stopNodes(t, env.WorkDir) })
	return writeConfigs(env)
}

// discreetHub is a hub whose log must repeat no invite.
func discreetHub(t *testing.T) *stage.InnerHub {
	hub := stage.HubInside(t)
	t.Cleanup(func() { // the scripts run on after this function
		if strings.Contains(hub.Log.String(), "S3CRET") {
			t.Error("the hub's log repeats an invite")
		}
	})
	return hub
}

// writeConfigs fills variables into the config.json files of a script, which
// cannot know where sockets and addresses will be.
func writeConfigs(env *testscript.Env) error {
	files, err := filepath.Glob(filepath.Join(env.WorkDir, "*.config"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		filled := strings.NewReplacer("$SOCKETS", env.Getenv("SOCKETS"), "$SHOP", env.Getenv("SHOP")).Replace(string(text))
		if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
			return err
		}
	}
	return err
}

// stopNodes ends what a script left running, also when it failed.
func stopNodes(t *testing.T, dir string) {
	locks, err := filepath.Glob(filepath.Join(dir, "*", "anet.lock"))
	stage.Must(t, err)
	for _, lock := range locks {
		stage.Run(t, 2*stage.Patience, stage.Command{
			Name: "anet", Path: stage.Binary(t, "anet"), Args: []string{"down", "--data-dir", filepath.Dir(lock)},
		})
	}
}

// readJSON sets a variable to a value of the last stdout.
func readJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json VAR path")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for step := range strings.SplitSeq(args[1], ".") {
		v = inside(ts, v, step)
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

func inside(ts *testscript.TestScript, v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		if member, ok := v[step]; ok {
			return member
		}
	case []any:
		var i int
		if n, err := fmt.Sscan(step, &i); n == 1 && err == nil && i < len(v) {
			return v[i]
		}
	}
	ts.Fatalf("there is no %q in %v", step, v)
	return nil
}

func changeBehind(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sql STATEMENT")
	}
	ctx := context.Background() // the script ends with its test
	conn, err := pgx.Connect(ctx, ts.Getenv(app.EnvDatabaseURL))
	ts.Check(err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, args[0])
	ts.Check(err)
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN program args")
	}
	pattern := regexp.MustCompile(args[0])
	for end := time.Now().Add(stage.Patience); ; time.Sleep(50 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s never said %q (%v)", strings.Join(args[1:], " "), args[0], err)
		}
	}
}
