package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// A public hub from its empty database on: invitation only, two processes behind
// a proxy with TLS, twenty nodes. Its operator blocks, hides, removes and takes
// back, loses a process, backs the hub up, proves the backup and moves to another
// database. Every part stands on those before it.
func TestAPublicHub(t *testing.T) {
	t.Parallel()
	h := openPublicHub(t)
	for _, part := range []struct {
		name string
		tell func(*publicHub, *testing.T)
	}{
		{"nobody comes in without an invite", (*publicHub).closedDoor},
		{"twenty nodes come in by one", (*publicHub).comeIn},
		{"they find, call and rate each other through the proxy", (*publicHub).work},
		{"one is blocked, and back", (*publicHub).block},
		{"one is hidden, and back", (*publicHub).hide},
		{"one leaves, and one is removed", (*publicHub).leave},
		{"a process dies, and nobody notices", (*publicHub).loseAProcess},
		{"it is backed up, and moves", (*publicHub).move},
		{"all of it was written down", (*publicHub).audit},
	} {
		t.Log(part.name)
		if part.tell(h, t); t.Failed() {
			return
		}
	}
}

type publicHub struct {
	a, b    *stage.HubProcess
	front   *stage.Proxy
	program *stage.Program
	nodes   []*stage.Node
	invite  string
}

const people = "people"

func openPublicHub(t *testing.T) *publicHub {
	url := pgtest.Empty(t)
	start := func(name string) *stage.HubProcess {
		return stage.LaunchHub(t, stage.HubConfig{Name: name, Database: url,
			Args: []string{"--invite-required", "--public-url", "https://hub.example.org"}})
	}
	h := &publicHub{a: start("hub-a"), b: start("hub-b")}
	h.a.Ready(t, stage.Patience)
	h.b.Ready(t, stage.Patience)
	if h.a.AID != h.b.AID {
		t.Fatalf("two processes of one database are %s and %s", h.a.AID, h.b.AID)
	}
	h.front = stage.Nginx(t, h.a.Hub, "server 127.0.0.1:8088;", "server 127.0.0.1:8088; server "+strings.TrimPrefix(h.b.URL, "http://")+";")
	h.program = stage.StartProgram(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.Write([]byte(`{"done":1}`)) })
	return h
}

func (h *publicHub) closedDoor(t *testing.T) {
	stranger := h.node(t, "stranger")
	refused(t, stranger, h.front.Hub, wire.InviteRequired)
}

// node is one that trusts the proxy's certificate and serves public.work.
func (h *publicHub) node(t *testing.T, name string) *stage.Node {
	return stage.NewNode(t, stage.NodeConfig{Name: name, Tags: []string{people}, Public: []any{"public.work"},
		Programs: map[string]string{"public.work": h.program.URL}, Env: []string{"SSL_CERT_FILE=" + h.front.CA}})
}

func (h *publicHub) comeIn(t *testing.T) {
	id, token := stage.Invite(t, h.a, "--uses", "20", "--label", "for everybody")
	h.invite = id
	file := stage.Write(t, filepath.Join(stage.Dir(t), "invite"), token+"\n")
	for i := range 20 {
		h.nodes = append(h.nodes, h.node(t, fmt.Sprintf("node-%02d", i)))
	}
	h.operate(t, "invite", "check", "--token-file", file)
	var all sync.WaitGroup
	turns := make(chan struct{}, 4)
	for _, n := range h.nodes {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			n.OK("join", h.front.URL, "--token-file", file)
			n.Launch()
		})
	}
	all.Wait()
	for _, n := range h.nodes {
		n.Registered()
	}
	h.lists(t, people, 20)
	h.lists(t, "public.*", 20)
	late := h.node(t, "late")
	refused(t, late, h.front.Hub, wire.InviteUsedUp, "--token-file", file)
	if out := h.operate(t, "invite", "show", id); !strings.Contains(out, "20 of 20") {
		t.Errorf("the invite shows %s, want 20 of 20", out)
	}
	h.operate(t, "invite", "revoke", id, "--yes", "--reason", "all are in")
	if out := h.operate(t, "invite", "list"); !strings.Contains(out, id) {
		t.Errorf("the list of invites lacks %s:\n%s", id, out)
	}
}

// lists asks both processes and the proxy; they agree.
func (h *publicHub) lists(t *testing.T, expr string, want int) []wire.Agent {
	t.Helper()
	var found wire.Agents
	stage.Until(t, stage.Patience, fmt.Sprintf("%d agents of %s", want, expr), func() bool {
		answer, err := stage.Send(h.front.Client(t, true), request(t, h.front.URL+"/agents?cap="+expr))
		return err == nil && answer.Read(&found) == nil && len(found.Agents) == want
	})
	return found.Agents
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (h *publicHub) work(t *testing.T) {
	caller, best := h.nodes[0], h.nodes[7]
	task, code := caller.Call(best.AID, "public.work", `{}`)
	if code != 0 || stage.Outcome(task) != "completed OK verified" {
		t.Fatalf("the call ended with exit %d, %s", code, stage.Outcome(task))
	}
	caller.OK("review", task.ID, "--rating", "5", "--comment", "as it said")
	if first := h.lists(t, people, 20)[0]; first.AID != best.AID || first.ReviewCount != 1 {
		t.Errorf("the first is %s with %d reviews, want the one that was rated", first.AID, first.ReviewCount)
	}
}

func (h *publicHub) block(t *testing.T) {
	n := h.nodes[3]
	h.operate(t, "agent", "block", n.AID, "--reason", "sends junk")
	h.lists(t, people, 19)
	if out := h.operate(t, "block", "list", "--json"); !strings.Contains(out, n.AID) {
		t.Errorf("the list of blocks lacks %s: %s", n.AID, out)
	}
	if out := h.a.Operate(t, "why", n.AID, "--cap", people); out.Code != 3 || !strings.Contains(out.Out, "blocked") {
		t.Errorf("why: %s, want exit 3 and the block", out)
	}
	if out := n.Run("hub-register"); out.Code != 4 || !strings.Contains(out.Err, "block") {
		t.Errorf("a blocked node registers: %s, want exit 4 and the block named", out)
	}
	if task, code := h.nodes[0].Call(n.AID, "public.work", `{}`); code == 0 {
		t.Errorf("a blocked node was called: %s", stage.Outcome(task))
	}
	h.operate(t, "agent", "unblock", n.AID)
	h.operate(t, "block", "add", "host", "203.0.113.0/24", "--reason", "a flood", "--expires", "1h")
	h.operate(t, "block", "remove", "host", "203.0.113.0/24")
	h.lists(t, people, 20)
}

func (h *publicHub) hide(t *testing.T) {
	n := h.nodes[4]
	h.operate(t, "agent", "hide", n.AID)
	h.lists(t, people, 19)
	if task, code := h.nodes[0].Call(n.AID, "public.work", `{}`); code != 0 {
		t.Errorf("a hidden node works as before, but its call ended with exit %d, %s", code, stage.Outcome(task))
	}
	if out := h.operate(t, "agent", "show", n.AID, "--json"); !strings.Contains(out, "hidden") {
		t.Errorf("the operator does not see that it is hidden: %s", out)
	}
	h.operate(t, "agent", "unhide", n.AID)
	h.lists(t, people, 20)
}

func (h *publicHub) leave(t *testing.T) {
	h.nodes[18].OK("hub-leave")
	h.nodes[19].OK("down")
	h.operate(t, "agent", "remove", h.nodes[19].AID, "--yes", "--reason", "its operator asked")
	h.lists(t, people, 18)
	for _, gone := range h.nodes[18:] {
		if task, code := h.nodes[0].Call(gone.AID, "public.work", `{}`, "--wait", "5s"); code == 0 {
			t.Errorf("one that is gone was called: %s", stage.Outcome(task))
		}
	}
	if out := h.operate(t, "agent", "list", "--json"); !strings.Contains(out, h.nodes[19].AID) {
		t.Errorf("the operator no longer sees who was removed: %s", out)
	}
}

func (h *publicHub) loseAProcess(t *testing.T) {
	h.a.Kill()
	for _, provider := range h.nodes[5:8] {
		if task, code := h.nodes[1].Call(provider.AID, "public.work", `{}`); code != 0 {
			t.Errorf("with one process left a call ended with exit %d, %s", code, stage.Outcome(task))
		}
	}
	h.a.Again(t)
}

// move proves the backup and starts a hub of it on another database: it is who it
// was, and knows whom it knew.
func (h *publicHub) move(t *testing.T) {
	file := filepath.Join(stage.Dir(t), "hub.backup")
	h.operate(t, "migrate", "--plan")
	h.operate(t, "backup", file)
	h.operate(t, "restore", "--check", file)
	stage.Until(t, stage.Patience, "the metrics tell of the proven backup", func() bool {
		return stage.Metric(t, h.b.Hub, "anet_hub_backup_proven_age_seconds") < 600
	})
	// Test databases are not held to the disk, and doctor does not let that pass.
	if out := h.a.Operate(t, "doctor", "--url", h.front.URL, "--ca-file", h.front.CA); out.Code != 3 || !strings.Contains(out.Out+out.Err, "3 of 18") {
		t.Errorf("doctor: %s", out)
	}
	before := h.known(t, h.b.Hub)
	h.b.Stop(t)
	h.a.Stop(t)
	h.a.Config.Database, h.b.Config.Database = "", ""
	there := pgtest.Empty(t)
	h.a.Config.Database, h.b.Config.Database = there, there
	h.operate(t, "restore", file)
	h.operate(t, "migrate")
	h.a.Again(t)
	h.b.Again(t)
	if after := h.known(t, h.b.Hub); !slices.Equal(before, after) {
		t.Errorf("knew %v before, %v after", before, after)
	}
	if task, code := h.nodes[1].Call(h.nodes[2].AID, "public.work", `{}`); code != 0 {
		t.Errorf("after the move a call ended with exit %d, %s", code, stage.Outcome(task))
	}
}

func (h *publicHub) known(t *testing.T, hub *stage.Hub) (aids []string) {
	var found wire.Agents
	hub.Get(t, "/agents?cap="+people).Ask(t, &found)
	for _, a := range found.Agents {
		aids = append(aids, fmt.Sprint(a.AID, a.AvgRating, a.ReviewCount))
	}
	return append(aids, hub.AID)
}

func (h *publicHub) audit(t *testing.T) {
	var log struct {
		Acts []struct{ What, Target string }
	}
	out := h.operate(t, "audit", "--json")
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	var acts []string
	for _, a := range log.Acts {
		acts = append(acts, a.What)
	}
	for _, want := range []string{"invite.create", "invite.revoke", "block.add", "block.remove", "agent.hide", "agent.unhide", "agent.remove", "backup.restore"} {
		if !slices.Contains(acts, want) {
			t.Errorf("the audit log lacks %s: %v", want, acts)
		}
	}
}

// operate runs an operator's command, which has to do its work.
func (h *publicHub) operate(t *testing.T, args ...string) string {
	t.Helper()
	out := h.b.Operate(t, args...)
	if out.Code != 0 {
		t.Fatalf("anet-hub %s: %s", strings.Join(args, " "), out)
	}
	return out.Out
}
