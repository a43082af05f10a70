package stage

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/app"
)

// NodeConfig is the part of config.json that a story decides about.
type NodeConfig struct {
	Name     string
	Policy   string            // closed where empty
	Tags     []string          //
	Public   []any             // ids, or whole entries with limits
	Programs map[string]string // what the service module calls, by capability id
	Prices   map[string]int    // of those that have one
	More     map[string]any    // further members of the file
	Env      []string          // of its commands
}

// file is the config.json.
func (c NodeConfig) file(t testing.TB) string {
	policy := c.Policy
	if policy == "" {
		policy = "closed"
	}
	public := []any{}
	for _, p := range c.Public {
		if id, plain := p.(string); plain {
			p = map[string]any{"id": id}
		}
		public = append(public, p)
	}
	members := map[string]any{"name": c.Name, "inbound": map[string]any{"policy": policy, "public_capabilities": public}}
	if c.Tags != nil {
		members["tags"] = c.Tags
	}
	if len(c.Programs) > 0 {
		var caps []any
		for id, url := range c.Programs {
			// A call that may take more than a minute is a long one, of which a node
			// runs four at a time.
			caps = append(caps, map[string]any{"id": id, "url": url, "timeout_ms": 30_000, "price": c.Prices[id]})
		}
		members["modules"] = map[string]any{"service": map[string]any{"capabilities": caps}}
	}
	for k, v := range c.More {
		members[k] = v
	}
	text, err := json.MarshalIndent(members, "", "  ")
	Must(t, err)
	return string(text)
}

// Node is a real `anet`: a data folder, and the process while it is up.
type Node struct {
	*Process
	Name string
	Dir  string
	AID  string
	env  []string
	t    testing.TB
}

// StartNode makes a node, lets it join the hub and runs it.
func StartNode(t testing.TB, h *Hub, c NodeConfig) *Node {
	t.Helper()
	n := JoinNode(t, h, c)
	n.Up()
	return n
}

// JoinNode makes a node that has joined the hub and is not up yet.
func JoinNode(t testing.TB, h *Hub, c NodeConfig) *Node {
	t.Helper()
	n := NewNode(t, c)
	n.OK("join", h.URL, "--name", c.Name)
	return n
}

// NewNode makes a node that knows no hub.
func NewNode(t testing.TB, c NodeConfig) *Node {
	t.Helper()
	n := &Node{Name: c.Name, Dir: filepath.Join(Dir(t), c.Name), env: c.Env, t: t}
	n.Configure(c)
	var made struct {
		AID string `json:"aid"`
	}
	n.JSON(&made, "init")
	n.AID = made.AID
	return n
}

// Configure writes config.json anew. What join put there has to be given again
// in c.More, or joined again.
func (n *Node) Configure(c NodeConfig) {
	n.t.Helper()
	Write(n.t, filepath.Join(n.Dir, "config.json"), c.file(n.t))
}

// Up starts the node and returns when the hub has taken it in.
func (n *Node) Up(args ...string) {
	n.t.Helper()
	n.Launch(args...)
	n.Registered()
}

// Launch starts the node and waits for nothing.
func (n *Node) Launch(args ...string) {
	n.t.Helper()
	n.Process = Start(n.t, n.command(append([]string{"up"}, args...)...))
}

// Registered waits until the hub has taken the node in since it was started.
func (n *Node) Registered() {
	n.t.Helper()
	Until(n.t, Patience, n.Name+" is registered", func() bool {
		if !n.Alive() {
			n.t.Fatalf("%s ended before it was registered:\n%s", n.Name, n.Log())
		}
		s, up := n.Status()
		return up && s.LastRegistered != nil
	})
}

func (n *Node) command(args ...string) Command {
	return Command{Name: n.Name, Path: Binary(n.t, "anet"), Args: args, Env: append([]string{"ANET_DATA_DIR=" + n.Dir}, n.env...)}
}

// Run runs a command of this node.
func (n *Node) Run(args ...string) Output {
	n.t.Helper()
	return Run(n.t, 2*Patience, n.command(args...)) // some wait for one by themselves
}

// OK runs a command that has to succeed.
func (n *Node) OK(args ...string) Output {
	n.t.Helper()
	out := n.Run(args...)
	if out.Code != 0 {
		n.t.Fatalf("%s: anet %q: %s", n.Name, args, out)
	}
	return out
}

// JSON runs a command with --json, reads what it printed, and gives its exit code.
func (n *Node) JSON(v any, args ...string) int {
	n.t.Helper()
	out := n.Run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out.Out), v); err != nil {
		n.t.Fatalf("%s: anet %q --json: %v: %s", n.Name, args, err, out)
	}
	return out.Code
}

// Status is what the running node says of itself.
func (n *Node) Status() (s app.Status, up bool) {
	n.t.Helper()
	out := n.Run("status", "--json")
	var answer struct {
		Up bool `json:"up"`
		app.Status
	}
	if json.Unmarshal([]byte(out.Out), &answer) != nil {
		return s, false // it is starting or ending
	}
	return answer.Status, answer.Up
}

// Call calls a capability and waits for the end.
func (n *Node) Call(provider, capability, args string, more ...string) (app.Task, int) {
	n.t.Helper()
	var task app.Task
	code := n.JSON(&task, append([]string{"delegate", provider, "--capability", capability, "--args", args, "--wait", Patience.String()}, more...)...)
	return task, code
}

// Task is one task as the node knows it.
func (n *Node) Task(id string) (task app.Task) {
	n.t.Helper()
	n.JSON(&task, "task", "get", id)
	return task
}

// Ended waits for the end of a task.
func (n *Node) Ended(id string) (task app.Task) {
	n.t.Helper()
	n.JSON(&task, "task", "get", id, "--wait", Patience.String())
	if !task.Ended {
		n.t.Fatalf("%s: the task %s has not ended: %s", n.Name, id, Outcome(task))
	}
	return task
}

// EndedBefore waits for the end of a task at a node that may be starting.
func (n *Node) EndedBefore(deadline time.Time, id string) (task app.Task) {
	n.t.Helper()
	for {
		out := n.Run("task", "get", id, "--wait", "5s", "--json")
		if json.Unmarshal([]byte(out.Out), &task) == nil && task.Ended {
			return task
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("%s: the task %s has not ended: %s", n.Name, id, out)
		}
	}
}

// Outcome is what became of a task, for comparing: state, effect, reason,
// receipt. What is empty is left out.
func Outcome(t app.Task) string {
	out := t.State
	if t.Effect != nil {
		out += " " + *t.Effect
	}
	if t.Reason != "" {
		out += " " + t.Reason
	}
	return fmt.Sprint(out, " ", t.ReceiptVerified)
}
