package e2e

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
)

// Silence is a defect: whoever is refused hears why, at once, in one of the
// reasons of the closed list, with a sentence and an exit code.
func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &hub.Hub, stage.NodeConfig{
		Name: "provider", Programs: map[string]string{"p.open": program.URL, "p.private": program.URL, "p.small": program.URL, "p.once": program.URL},
		Public: []any{"p.open", "p.gone",
			map[string]any{"id": "p.small", "max_args_bytes": 20},
			map[string]any{"id": "p.once", "per_caller_per_day": 1}},
	})
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	call := func(id, args string) func(*testing.T) (app.Task, int) {
		return func(*testing.T) (app.Task, int) { return caller.Call(provider.AID, id, args) }
	}
	text := func(*testing.T) (task app.Task, code int) {
		code = caller.JSON(&task, "delegate", provider.AID, "hello", "--wait", stage.Patience.String())
		return task, code
	}
	for _, tt := range []struct {
		name   string
		before func()
		ask    func(*testing.T) (app.Task, int)
		want   string
		code   int
	}{
		{"a public call", nil, call("p.open", `{}`), "completed OK verified", 0},
		{"a text of a stranger", nil, text, "rejected not_accepting unknown", 4},
		{"a call of what is not public", nil, call("p.private", `{}`), "rejected UNAVAILABLE not_accepting unknown", 4},
		{"a public call of what nobody serves", nil, call("p.gone", `{}`), "rejected UNAVAILABLE capability_not_served verified", 4},
		{"arguments that are too large", nil, call("p.small", `{"text":"far too much of it"}`), "rejected UNAVAILABLE args_too_large unknown", 4},
		{"the first call of the day", nil, call("p.once", `{}`), "completed OK verified", 0},
		{"the second", nil, call("p.once", `{}`), "rejected UNAVAILABLE quota_caller_per_day unknown", 4},
		{"a private call once the policy is open", func() { provider.OK("inbound", "policy", "open", "--yes") },
			call("p.private", `{}`), "rejected UNAVAILABLE capability_not_public unknown", 4},
		{"a private call of a peer", func() { provider.OK("peers", "allow", caller.AID, "--yes") }, call("p.private", `{}`), "completed OK verified", 0},
		{"a peer's call of what nobody serves", nil, call("p.never", `{}`), "rejected UNAVAILABLE capability_not_served verified", 4},
		{"a denied peer", func() { provider.OK("peers", "deny", caller.AID) }, call("p.open", `{}`), "rejected UNAVAILABLE denied unknown", 4},
		{"the seventh refusal within an hour is silence", nil, func(*testing.T) (task app.Task, code int) {
			code = caller.JSON(&task, "delegate", provider.AID, "hello", "--wait", "2s")
			return task, code
		}, "submitted unknown", 8},
		{"a denied peer, closed, hears what strangers hear", func() {
			caller = stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "another"})
			provider.OK("inbound", "policy", "closed")
			provider.OK("peers", "deny", caller.AID)
		}, call("p.open", `{}`), "rejected UNAVAILABLE not_accepting unknown", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.before != nil {
				tt.before()
			}
			task, code := tt.ask(t)
			if got := stage.Outcome(task); got != tt.want || code != tt.code {
				t.Errorf("exit %d, %s, want %d, %s", code, got, tt.code, tt.want)
			}
			shown := caller.Run("task", "get", task.ID).Out
			if task.Reason != "" && (task.Message == "" || !strings.Contains(shown, task.Reason+": "+task.Message)) {
				t.Errorf("%s comes with the sentence %q and is shown as\n%s", task.Reason, task.Message, shown)
			}
		})
	}
}
