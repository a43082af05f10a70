package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/node"
)

// Where the hub cannot be asked nobody knows whether it lists something else: no
// success, and no difference.
func TestStatusOfAHubThatCannotBeAsked(t *testing.T) {
	p, h := newPerson(t), newHub(t, 1)
	p.wants(exitDone, "init")
	p.wants(exitDone, "status") // nowhere joined, nothing to compare
	p.wants(exitDone, "join", h.URL)
	h.Close()
	out, _ := p.wants(exitRefused, "status", "--json")
	if s := decoded[State](t, out); s.Listed != nil || s.HubError == "" || s.Differs {
		t.Errorf("at rest: %+v", s)
	}
	p.node.Now.Hub, p.node.Now.HubError = h.URL, "no"
	p.up()
	if out, _ := p.wants(exitRefused, "status"); !strings.Contains(out, "does not answer") {
		t.Errorf("at work: %s", out)
	}
}

// Without a card a node's prices can be seen nowhere, also by agents of its own hub.
func TestStatusOfANodeWithoutACard(t *testing.T) {
	for visibility, want := range map[string]string{"hub-local": "card\tno card was published", "federated": "federated; other hubs hear of cards alone"} {
		var out bytes.Buffer
		s := State{Up: true, Joined: true, Status: node.Status{Visibility: visibility, CardProblem: "no card was published: \x1b[31m"}}
		s.print(&out)
		if says := out.String(); strings.Count(says, "no card was published") != 1 || !strings.Contains(says, want) || strings.Contains(says, "\x1b") {
			t.Errorf("%s: it says\n%s", visibility, says)
		}
	}
}

// Who is blocked is told so, and not to register again.
func TestStatusOfANodeThatIsNotShown(t *testing.T) {
	var out bytes.Buffer
	s := State{Up: true, Joined: true, Status: node.Status{
		Hub: "https://hub.example.org", Registered: true, Listed: []string{}, Missing: []string{"a.b"}, Unlisted: "blocked by the operator"}}
	s.print(&out)
	if says := out.String(); !strings.Contains(says, "missing\ta.b\nunlisted\tblocked by the operator\n") || strings.Contains(says, "hub-register") {
		t.Errorf("it says\n%s", says)
	}
}

// Who may be known elsewhere and has nothing to be known by is told so.
func TestStatusOfAFederatedNodeWithoutACard(t *testing.T) {
	for _, tt := range []struct {
		status node.Status
		told   bool
	}{
		{node.Status{Visibility: "federated", Policy: "closed"}, true},
		{node.Status{Visibility: "hub-local", Policy: "closed"}, false},
		{node.Status{Visibility: "federated", Policy: "open"}, false},
		{node.Status{Visibility: "public", Policy: "closed", Public: []string{"a.b"}}, false},
	} {
		var out bytes.Buffer
		State{Up: true, Joined: true, Status: tt.status}.print(&out)
		if got := strings.Contains(out.String(), "offers strangers nothing"); got != tt.told {
			t.Errorf("%+v: it says\n%s", tt.status, out.String())
		}
	}
}
