package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// At the most verbose level no secret
// is in a log, an error, a metric, a command line or a folder.

// clean reports where a secret was found that has no business there.
func clean(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s holds a secret: …%q…", where, text[max(0, i-60):i+len(secret)])
		}
	}
}

func TestDatabasePasswordStaysSecret(t *testing.T) {
	t.Parallel()
	const right, wrong = "r1ght-passw0rd", "wr0ng-passw0rd"
	url := pgtest.URL(t)
	pooled := pgtest.Pooler(t, url, right)
	for _, tt := range []struct {
		name, url string
		inFile    bool
	}{
		{"refused", strings.Replace(pooled, right, wrong, 1), false},
		{"refused, from a file", strings.Replace(pooled, right, wrong, 1), true},
		{"nobody listens", "postgres://anet:" + wrong + "@127.0.0.1:1/anet", false},
		{"no such host", "postgres://anet:" + wrong + "@no-such-host.invalid/anet", false},
		{"malformed port", "postgres://anet:" + wrong + "@127.0.0.1:port/anet", false},
		{"malformed", "postgres://anet:" + wrong + "%zz@127.0.0.1/anet", false},
		{"words", "password=" + wrong + " user=anet host=", false},
		{"another scheme", "mysql://anet:" + wrong + "@127.0.0.1/anet", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := stage.HubConfig{Database: tt.url, Args: []string{"--log-level", "debug"}}
			if tt.inFile {
				c.Database = ""
				c.Args = append(c.Args, "--database-url-file", stage.Write(t, filepath.Join(stage.Dir(t), "url"), tt.url+"\n"))
			}
			hub := stage.LaunchHub(t, c)
			_ = hub.Wait(t)
			if hub.Code() == 0 {
				t.Error("the hub took it")
			}
			clean(t, "what the hub says", hub.Log(), wrong)
		})
	}
	t.Run("of a hub that runs, also when the database goes away", func(t *testing.T) {
		hub := stage.StartHub(t, stage.HubConfig{
			Database: pooled, Env: []string{"ANET_HUB_DATABASE_DIRECT_URL=" + url}, Args: []string{"--log-level", "debug"},
		})
		agent := stage.NewAgent(t, hub.Hub)
		agent.Register("text.digest")
		clean(t, "the command line", commandLine(t, hub.PID()), right)
		dropDatabase(t, url)
		for _, path := range []string{"/readyz", "/agents?cap=text.digest", "/agents/" + agent.AID(), "/metrics", "/healthz"} {
			clean(t, path, hub.Get(t, path).String(), right, "anet_test", ".s.PGSQL")
		}
		answer, err := agent.Try(wire.ActionPoll, "/relay/poll", wire.Poll{})
		if err != nil || answer.Status < 500 {
			t.Errorf("a poll without a database: %v %v", answer, err)
		}
		clean(t, "a failed poll", answer.String(), right, "anet_test", ".s.PGSQL", "SQLSTATE")
		clean(t, "the log", hub.Log(), right)
	})
}

// dropDatabase takes the database away from under those who use it.
func dropDatabase(t *testing.T, url string) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	stage.Must(t, err)
	name := config.Database
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	stage.Must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	stage.Must(t, err)
}

func TestInviteStaysSecret(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t, func(c *app.Config) { c.InviteRequired = true })
	id, invite := stage.Invite(t, hub, "--uses", "2", "--reason", "for this story")
	node := stage.NewNode(t, stage.NodeConfig{Name: "node"})
	file := stage.Write(t, filepath.Join(stage.Dir(t), "invite"), invite+"\n")

	for name, args := range map[string][]string{
		"as a flag":          {"join", hub.URL, "--token", invite},
		"as another flag":    {"join", hub.URL, "--invite=" + invite},
		"as an argument":     {"join", hub.URL, invite},
		"in the URL":         {"join", strings.Replace(hub.URL, "http://", "http://"+invite+"@", 1)},
		"in the query":       {"join", hub.URL + "?invite=" + invite},
		"in the fragment":    {"join", hub.URL + "#" + invite},
		"to another command": {"hub-register", "--token", invite},
	} {
		t.Run("refused "+name, func(t *testing.T) {
			out := node.Run(args...)
			if out.Code != 2 {
				t.Errorf("exit %d, want 2: %s", out.Code, out)
			}
			clean(t, "the answer", out.String(), invite)
		})
	}
	t.Run("taken from a file and from the environment", func(t *testing.T) {
		out := node.OK("join", hub.URL, "--token-file", file)
		clean(t, "the answer", out.String(), invite)
		other := stage.NewNode(t, stage.NodeConfig{Name: "other"})
		c := stage.Command{Name: "join", Path: stage.Binary(t, "anet"), Args: []string{"join", hub.URL},
			Env: []string{"ANET_DATA_DIR=" + other.Dir, "ANET_INVITE=" + invite}}
		if out := stage.Run(t, stage.Patience, c); out.Code != 0 {
			t.Errorf("joining with ANET_INVITE: %s", out)
		}
		noFolderHolds(t, other.Dir, invite)
	})
	t.Run("not handed on to the node in the background", func(t *testing.T) {
		c := stage.Command{Name: "up", Path: stage.Binary(t, "anet"), Args: []string{"up", "--detach", "--log-level", "debug"},
			Env: []string{"ANET_DATA_DIR=" + node.Dir, "ANET_INVITE=" + invite}}
		t.Cleanup(func() { node.Run("down") })
		if out := stage.Run(t, stage.Patience, c); out.Code != 0 {
			t.Fatalf("up: %s", out)
		}
		for _, pid := range runningOn(t, node.Dir) {
			clean(t, "its environment", procFile(t, pid, "environ"), invite)
			clean(t, "its command line", commandLine(t, pid), invite)
		}
		clean(t, "its status", node.Run("status", "--json").String(), invite)
		node.OK("down")
		noFolderHolds(t, node.Dir, invite)
	})
	t.Run("not told by a hub that refuses it", func(t *testing.T) {
		late := stage.NewAgent(t, &hub.Hub)
		body := late.Registration("x")
		body.Invite = invite
		answer := late.Do(wire.ActionRegister, "/register", body)
		if answer.Code() != "403 invite_used_up" {
			t.Errorf("a third use: %s", answer)
		}
		clean(t, "the refusal", answer.String(), invite)
		third := stage.NewNode(t, stage.NodeConfig{Name: "third"})
		out := third.Run("join", hub.URL, "--token-file", file, "--json")
		if out.Code != 4 {
			t.Errorf("joining with it: %s", out)
		}
		clean(t, "what the node says", out.String(), invite)
		noFolderHolds(t, third.Dir, invite)
	})
	t.Run("not shown to its operator again", func(t *testing.T) {
		for _, args := range [][]string{{"invite", "list"}, {"invite", "show", id, "--json"}, {"audit", "--json"}, {"invite", "revoke", id, "--yes", "--log-level", "debug"}} {
			clean(t, fmt.Sprint("anet-hub ", args), hub.Operate(t, args...).String(), invite)
		}
		clean(t, "the refused word", hub.Operate(t, "invite", "show", invite).String(), invite)
		clean(t, "the metrics", hub.Get(t, "/metrics").String(), invite)
	})
	clean(t, "the hub's log", hub.Log.String(), invite)
}

func TestServiceTokenStaysSecret(t *testing.T) {
	t.Parallel()
	const token = "s3rvice-t0ken-for-the-program"
	hub := stage.HubInside(t)
	shown := make(chan string, 8)
	program := stage.StartProgram(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		shown <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusInternalServerError)
	})
	file := stage.Write(t, filepath.Join(stage.Dir(t), "token"), token+"\n")
	provider := stage.JoinNode(t, &hub.Hub, stage.NodeConfig{Name: "provider", Public: []any{"p.work"},
		More: map[string]any{"modules": map[string]any{"service": map[string]any{
			"token_file": file, "capabilities": []any{map[string]any{"id": "p.work", "url": program.URL}},
		}}}})
	provider.Up("--log-level", "debug")
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	caller.Call(provider.AID, "p.work", `{}`)
	if got := <-shown; got != "Bearer "+token {
		t.Fatalf("the program was shown %q, want the token", got)
	}
	program.Stop()
	caller.Call(provider.AID, "p.work", `{}`)
	stage.Must(t, os.Chmod(file, 0o644)) // which the node refuses to use
	caller.Call(provider.AID, "p.work", `{}`)
	for _, n := range []*stage.Node{provider, caller} {
		clean(t, n.Name+"'s log", n.Log(), token)
		clean(t, n.Name+"'s status", n.Run("status", "--json").String(), token)
		clean(t, n.Name+"'s doctor", n.Run("doctor").String(), token)
		clean(t, n.Name+"'s results", n.Run("results", "--json").String(), token)
		noFolderHolds(t, n.Dir, token)
	}
	clean(t, "the hub's log", hub.Log.String(), token)
	clean(t, "the directory", hub.Get(t, "/agents/"+provider.AID).String(), token)
}

// noFolderHolds reads every file below a folder.
func noFolderHolds(t *testing.T, dir, secret string) {
	t.Helper()
	stage.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		clean(t, path, string(text), secret)
		return err
	}))
}

// runningOn are the processes that name a folder on their command line.
func runningOn(t *testing.T, dir string) (pids []int) {
	t.Helper()
	all, err := os.ReadDir("/proc")
	stage.Must(t, err)
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), dir) {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatalf("no process runs on %s", dir)
	}
	return pids
}

func commandLine(t *testing.T, pid int) string { return procFile(t, pid, "cmdline") }

func procFile(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	stage.Must(t, err)
	return string(text)
}
