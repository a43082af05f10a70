package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
)

func ptr(s string) *string { return &s }

func TestOutcome(t *testing.T) {
	ended := func(state, effect, receipt string) node.Task {
		k := node.Task{State: state, Ended: true, ReceiptVerified: receipt}
		if effect != "" {
			k.Effect = &effect
		}
		return k
	}
	tests := []struct {
		name string
		task node.Task
		want int
	}{
		{"still waiting", node.Task{State: "working"}, exitWaiting},
		{"a question is no end", node.Task{State: "input-required"}, exitWaiting},
		{"to be paid", node.Task{State: "input-required", Effect: ptr("PAYMENT_REQUIRED")}, exitPayment},
		{"it happened", ended("completed", "OK", "verified"), exitDone},
		{"it happened, says somebody", ended("completed", "OK", "unverified"), exitUnverified},
		{"nobody can tell", ended("completed", "UNVERIFIED", "verified"), exitUnverified},
		{"it did not happen", ended("failed", "FAILED", "verified"), exitFailed},
		{"not attempted", ended("rejected", "UNAVAILABLE", "unknown"), exitRefused},
		{"no answer in time", ended("failed", "UNVERIFIED", "unknown"), exitUnverified},
		{"an effect of a later version", ended("completed", "SPLENDID", "verified"), exitUnverified},
		{"a text was answered", ended("completed", "", "verified"), exitDone},
		{"a text was refused", ended("rejected", "", "unknown"), exitRefused},
		{"a text failed", ended("failed", "", "unknown"), exitFailed},
		{"withdrawn", ended("canceled", "", "unknown"), exitRefused},
	}
	for _, tt := range tests {
		if got := outcome(tt.task); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}

// An effect that may have happened is shown with a warning, whether its
// provider gave a reason or not.
func TestADoubtfulEndIsShownAsOne(t *testing.T) {
	tests := []struct {
		effect, reason, receipt string
		want                    bool
	}{
		{"UNVERIFIED", "", "verified", true},
		{"SPLENDID", "", "verified", true},
		{"OK", "", "unverified", true},
		{"OK", "", "verified", false},
		{"FAILED", "", "unknown", false},
		{"UNVERIFIED", "timeout", "verified", false}, // its sentence says so
	}
	for _, tt := range tests {
		var out strings.Builder
		printTask(&out, node.Task{State: "completed", Ended: true, Effect: &tt.effect, Reason: tt.reason, ReceiptVerified: tt.receipt})
		if got := strings.Contains(out.String(), "check before asking again"); got != tt.want {
			t.Errorf("%s with the reason %q, receipt %s: a warning %v, want %v", tt.effect, tt.reason, tt.receipt, got, tt.want)
		}
	}
}

func TestAStateIsSaidOnce(t *testing.T) {
	tests := []struct {
		task node.Task
		want string
	}{
		{node.Task{State: "submitted", Delivery: "queued"}, "submitted, waiting for the hub"},
		{node.Task{State: "submitted", Delivery: "sent"}, "submitted, sent, waiting for the provider"},
		{node.Task{State: "submitted", Delivery: "answered"}, "submitted"},
		{node.Task{State: "working", Delivery: "answered"}, "working"},
		{node.Task{State: "input-required", CancelRequested: true}, "input-required, asked to stop"},
	}
	for _, tt := range tests {
		tt.task.Role = node.Requester
		if got := stateOf(tt.task); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.task.State, tt.task.Delivery, got, tt.want)
		}
	}
}

func TestDelegateTellsHowItEnded(t *testing.T) {
	p := newPerson(t)
	p.up()
	out, _ := p.wants(exitDone, "delegate", somebody, "--capability", "text.digest", "--args", `{"text":"x"}`, "--json")
	started := decoded[node.Task](t, out)
	if started.State != "submitted" || started.Capability != "text.digest" || string(started.Args) != `{
    "text": "x"
  }` {
		t.Errorf("started %+v", started)
	}
	p.wants(exitWaiting, "task", "get", started.ID, "--wait", "20ms")
	started.State, started.Ended, started.Effect = "completed", true, ptr("OK")
	started.ReceiptVerified, started.Deliverable = "verified", []byte(`{"status":"OK"}`)
	p.node.Put(started)

	out, _ = p.wants(exitDone, "task", "get", started.ID, "--wait", "2m", "--json")
	got := decoded[map[string]any](t, out)
	for _, name := range []string{"task_id", "state", "effect_status", "reason", "deliverable", "receipt_verified"} {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing in %s", name, out)
		}
	}
	out, _ = p.wants(exitDone, "task", "get", started.ID)
	if !strings.Contains(out, "receipt   verified") || !strings.Contains(out, `"status": "OK"`) {
		t.Errorf("for people:\n%s", out)
	}
}

// A failure that leaves it open whether the other end acted is no refusal.
func TestUncertainFailures(t *testing.T) {
	for reason, want := range map[string]int{
		control.NotRunning: exitRefused, control.ConnectionLost: exitUnverified,
		hubclient.Unreachable: exitRefused, hubclient.ConnectionLost: exitUnverified,
	} {
		if got := code(cmdline.Ran(errs.New(errs.Unavailable, reason, "no answer"))); got != want {
			t.Errorf("%s: exit code %d, want %d", reason, got, want)
		}
	}
}

// The node ends while somebody waits: what it had taken on stays taken on.
func TestTheNodeEndsDuringTheWait(t *testing.T) {
	p := newPerson(t)
	p.up()
	waits, stopped := make(chan struct{}), make(chan struct{})
	p.node.OnWait = sync.OnceFunc(func() { close(waits) })
	go func() {
		defer close(stopped)
		<-waits
		p.wants(exitDone, "down")
	}()
	out, _ := p.wants(exitWaiting, "delegate", somebody, "--capability", "a", "--wait", "2m", "--json")
	if got := decoded[node.Task](t, out); got.State != "submitted" {
		t.Errorf("shown: %s", out)
	}
	<-stopped
}

func TestTextTasksHaveNoEffect(t *testing.T) {
	p := newPerson(t)
	p.up()
	out, _ := p.wants(exitDone, "delegate", somebody, "Translate this.", "--json")
	if !strings.Contains(out, `"effect_status": null`) {
		t.Errorf("started:\n%s", out)
	}
	id := decoded[node.Task](t, out).ID
	p.wants(exitDone, "message", id, "And this.")
	p.wants(exitDone, "cancel", id)
	p.wants(exitDone, "end", id, "Thank you.")
	p.wants(exitError, "message", id, "Too late.")
	out, _ = p.wants(exitDone, "thread", id)
	for _, said := range []string{"And this.", "(cancel)", "(end request)", "Thank you."} {
		if !strings.Contains(out, said) {
			t.Errorf("%q is missing in the thread:\n%s", said, out)
		}
	}
	out, _ = p.wants(exitDone, "results", "--json")
	if page := decoded[node.Page](t, out); len(page.Tasks) != 1 || page.Tasks[0].ID != id {
		t.Errorf("results: %s", out)
	}
	if out, _ = p.wants(exitDone, "inbox"); out != "none\n" {
		t.Errorf("inbox: %s", out)
	}
}

func TestFilesAreSavedIntoAFreshFolder(t *testing.T) {
	p := newPerson(t)
	p.node.Attached = map[string]node.File{}
	p.up()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600))
	p.wants(exitDone, "delegate", somebody, "Read this.", "--file", filepath.Join(dir, "a.txt"))
	p.wants(exitError, "delegate", somebody, "Read this.", "--file", filepath.Join(dir, "missing"))
	if f := p.node.Attached[""]; f.Name != "a.txt" || f.Size != 5 || !strings.HasPrefix(f.Mime, "text/plain") || string(f.Data) != "hello" {
		t.Errorf("attached %+v", f)
	}
}

// Names and texts are other people's. They must not move the cursor, colour the
// terminal or turn the direction of what stands beside them.
func TestForeignTextIsHarmless(t *testing.T) {
	p := newPerson(t)
	p.up()
	evil := "x\x1b[2J\u202egnp.exe\r\n\a\u009b2J\x7f\U000e0041"
	p.node.Put(node.Task{ID: "t", Role: node.Provider, Peer: somebody, Text: evil, State: "working", Note: evil, Reason: evil})
	p.node.Put(node.Task{ID: evil, Role: node.Provider, Peer: somebody, Text: "x", State: "working"}) // the id is its requester's, too
	for _, args := range [][]string{{"task", "get", "t"}, {"task", "get", evil}, {"inbox"}, {"thread", "t"}, {"__complete", "task", "get", ""}, {"inbox", "--json"}} {
		out, _ := p.wants(exitDone, args...)
		if strings.ContainsAny(out, "\x1b\u202e\r\a\u009b\x7f\U000e0041") {
			t.Errorf("anet %q: %q", args, out)
		}
	}
	out, _ := p.wants(exitDone, "task", "get", "t", "--json")
	if got := decoded[node.Task](t, out); got.Text != evil {
		t.Errorf("in JSON the text is %q, want %q", got.Text, evil)
	}
}

func TestCompletionOffersWhatIsThere(t *testing.T) {
	p := newPerson(t)
	p.up()
	p.node.Put(node.Task{ID: "task-a", Role: node.Requester, Peer: somebody, Text: "Translate", State: "working"})
	p.wants(exitDone, "peers", "deny", somebody)
	out, _ := p.wants(exitDone, "__complete", "task", "get", "")
	if !slices.Contains(strings.Split(out, "\n"), "task-a\tworking Translate") {
		t.Errorf("tasks: %s", out)
	}
}
