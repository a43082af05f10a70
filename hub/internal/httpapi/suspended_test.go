package httpapi

import (
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// A suspension counts from its commit on, also where the signer is remembered
// from the request before, and tells why.
func TestASuspendedAgentIsRefusedEverything(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	members := postgres.NewMembers(w.pool)
	w.mustRegister(n, n.Register("alice", "x"))
	profile := func() answer { return w.call(n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"}) }
	if a := profile(); a.StatusCode != 200 {
		t.Fatalf("before: %d %s", a.StatusCode, a.raw)
	}
	if err := members.Suspend(t.Context(), audit.By{}.Did("agent.suspend", n.AID(), w.clock())); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for what, a := range map[string]answer{
			"a profile": profile(), "the same registration": w.register(n, n.Register("alice", "x")),
			"another": w.register(n, n.Register("alice", "y")), "leaving": w.call(n, wire.ActionDeregister, "/agents/"+n.AID()+"/deregister", struct{}{}),
		} {
			if a.StatusCode != 403 || a.code() != "agent_suspended" {
				t.Errorf("%s: %d %s, want 403 agent_suspended", what, a.StatusCode, a.raw)
			}
		}
		w.api.Replays = identity.NewCache(1 << 20) // a process that remembers nothing says the same
	}
	if err := members.Resume(t.Context(), audit.By{}.Did("agent.resume", n.AID(), w.clock())); err != nil {
		t.Fatal(err)
	}
	if a := profile(); a.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", a.StatusCode, a.raw)
	}
}
