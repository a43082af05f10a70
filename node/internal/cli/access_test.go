package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/node"
)

// The lists and the policy are the same thing whether the node runs or not.
func TestAccessWithAndWithoutANode(t *testing.T) {
	for _, running := range []bool{false, true} {
		p := newPerson(t)
		p.wants(exitDone, "init")
		if running {
			p.up()
		}
		p.wants(exitDone, "peers", "allow", somebody, "--yes")
		p.wants(exitDone, "peers", "deny", somebody)
		out, _ := p.wants(exitDone, "peers", "list", "--json")
		want := node.Peers{Allow: []string{}, Trust: []string{}, Deny: []string{somebody}}
		if got := decoded[node.Peers](t, out); !reflect.DeepEqual(got, want) {
			t.Errorf("running %v: lists %+v, want %+v", running, got, want)
		}
		p.wants(exitDone, "peers", "remove", somebody)
		p.wants(exitError, "peers", "remove", somebody)
		p.wants(exitDone, "inbound", "policy", "open", "--yes")
		if out, _ := p.wants(exitDone, "inbound", "policy"); strings.TrimSpace(out) != "open" {
			t.Errorf("running %v: policy %q", running, out)
		}
		p.wants(exitDone, "inbound", "policy", "open") // nothing is widened
		p.wants(exitDone, "inbound", "policy", "closed")
	}
}
