package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// TestComposeNetwork brings up docker-compose.yml, finds at the first hub what an
// agent of the second can do, calls it across both, and cuts first the provider and
// then the way between the hubs: calls wait and are answered when it is mended.
func TestComposeNetwork(t *testing.T) {
	n := composeUp(t)
	var provider string
	stage.Until(t, 2*stage.Patience, "alice finds text.digest", func() bool {
		provider = n.find(t, "alice", "text.digest")
		return provider != ""
	})
	if got, want := n.homes(t, "hub-a", "text.*"), []string{"http://hub-b:8088"}; !slices.Equal(got, want) {
		t.Errorf("the first hub names the homes %q, want %q", got, want)
	}
	if got := n.homes(t, "hub-b", "text.*"); !slices.Equal(got, []string{""}) {
		t.Errorf("the second hub names the homes %q, want one agent of its own", got)
	}
	code, done := n.anet(t, "alice", "delegate", provider, "--capability", "text.digest", "--args", `{"text":"hello"}`, "--wait", "2m")
	done.wantDigest(t, code, "hello")

	n.cut(t, "text-desk", "site-b", func() taskView { return n.waits(t, provider, "later") }).wantDigest(t, 0, "later")
	n.cut(t, "hub-b", "outside", func() taskView { return n.waits(t, provider, "much later") }).wantDigest(t, 0, "much later")
	n.must(t, "up", "--detach") // again, with everything there already
}

// waits calls what cannot be reached now.
func (n *network) waits(t *testing.T, provider, text string) taskView {
	t.Helper()
	code, waiting := n.anet(t, "alice", "delegate", provider, "--capability", "text.digest", "--args", `{"text":"`+text+`"}`, "--wait", "2s")
	if code != 8 {
		t.Fatalf("a call of what is cut off ended with %d, want 8, still waiting: %+v", code, waiting)
	}
	return waiting
}

// cut takes a service off a network while something is asked, and gives the
// answer that comes once it is back.
func (n *network) cut(t *testing.T, service, from string, ask func() taskView) taskView {
	t.Helper()
	from = n.project + "_" + from
	n.docker(t, "network", "disconnect", from, n.id(t, service))
	waiting := ask()
	n.docker(t, "network", "connect", "--alias", service, from, n.id(t, service))
	_, done := n.anet(t, "alice", "task", "get", waiting.TaskID, "--wait", "2m")
	return done
}

// homes asks a hub at its port, as somebody outside does, and gives the home of
// each agent that it lists.
func (n *network) homes(t *testing.T, hub, capability string) (homes []string) {
	t.Helper()
	at := &stage.Hub{URL: "http://" + strings.TrimSpace(n.must(t, "port", hub, "8088"))}
	for _, found := range at.Find(t, capability) {
		homes = append(homes, found.HomeHub)
	}
	return homes
}

// taskView is what these stories read of a task.
type taskView struct {
	TaskID          string `json:"task_id"`
	EffectStatus    string `json:"effect_status"`
	ReceiptVerified string `json:"receipt_verified"`
	Deliverable     struct {
		Evidence struct {
			ObservedState string `json:"observed_state"`
		} `json:"evidence"`
	} `json:"deliverable"`
}

func (v taskView) wantDigest(t *testing.T, code int, text string) {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	if got, want := v.Deliverable.Evidence.ObservedState, hex.EncodeToString(sum[:]); code != 0 || got != want {
		t.Errorf("the digest of %q: exit %d, %q, want 0 and %q (%+v)", text, code, got, want, v)
	}
	if v.EffectStatus != "OK" || v.ReceiptVerified != "verified" {
		t.Errorf("the digest of %q: effect %s, receipt %s, want OK and verified", text, v.EffectStatus, v.ReceiptVerified)
	}
}

// network is a running docker-compose.yml under a project of its own.
type network struct {
	project string
	compose []string
	env     []string
}

func composeUp(t *testing.T) *network {
	n := newNetwork(t, "anete2e")
	n.must(t, "up", "--detach")
	return n
}

// newNetwork makes the images and starts nothing yet.
func newNetwork(t *testing.T, name string, env ...string) *network {
	n := &network{compose: need.Compose(t), project: fmt.Sprint(name, os.Getpid())}
	n.env = append([]string{"COMPOSE_PROJECT_NAME=" + n.project, "ANET_POSTGRES_IMAGE=anet-postgres:local", "ANET_HUB_PORT=0", "ANET_HUB_B_PORT=0"}, env...)
	for _, name := range []string{"DOCKER_HOST", "DOCKER_SOCKET"} { // an engine elsewhere
		if at := os.Getenv(name); at != "" {
			n.env = append(n.env, name+"="+at)
		}
	}
	command(t, nil, "make", "images")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(n.run(t, "logs", "--tail=40").Out)
		}
		n.must(t, "--profile", "monitoring", "--profile", "faults", "down", "--volumes")
	})
	return n
}

// run is one compose command.
func (n *network) run(t *testing.T, args ...string) stage.Output {
	t.Helper()
	line := slices.Concat(n.compose, args)
	return stage.Run(t, 5*time.Minute, stage.Command{Name: "compose", Path: line[0], Args: line[1:], Dir: stage.Root(), Env: n.env})
}

func (n *network) must(t *testing.T, args ...string) string {
	t.Helper()
	out := n.run(t, args...)
	if out.Code != 0 {
		t.Fatalf("compose %s: %s", strings.Join(args, " "), out)
	}
	return out.Out
}

// anet runs the command line inside a node's container.
func (n *network) anet(t *testing.T, node string, args ...string) (code int, v taskView) {
	t.Helper()
	out := n.run(t, append([]string{"exec", "-T", node, "/anet", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out.Out), &v); err != nil {
		t.Fatalf("anet %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out.Code, v
}

// find is the AID of who serves the capability, empty while nobody does.
func (n *network) find(t *testing.T, node, capID string) string {
	t.Helper()
	var found struct {
		Agents []struct {
			AID string `json:"aid"`
		} `json:"agents"`
	}
	out := n.run(t, "exec", "-T", node, "/anet", "--json", "find", "--cap", capID)
	if err := json.Unmarshal([]byte(out.Out), &found); err != nil || len(found.Agents) == 0 {
		return ""
	}
	return found.Agents[0].AID
}

func (n *network) id(t *testing.T, service string) string {
	t.Helper()
	return strings.TrimSpace(n.must(t, "ps", "-q", service))
}

func (n *network) docker(t *testing.T, args ...string) {
	t.Helper()
	command(t, nil, "docker", args...)
}
