package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
)

// refuses waits until a process refuses another hub as no peer of its own, or no
// longer does.
func (h *town) refuses(peer *town, is bool) {
	h.t.Helper()
	what := map[bool]string{true: "a process refuses the hub", false: "a process takes the hub for a peer"}[is]
	testkit.Until(h.t, what, func() bool {
		return h.do(h.signed(peer.self(), "/fed/v2/keys/"+peer.hub, "")).status == http.StatusForbidden == is
	})
}

// What an operator does to the table is in force at every process, without a
// restart.
func TestEveryProcessFollowsTheTable(t *testing.T) {
	one, peer := newTown(t), newTown(t)
	two := townOn(t, one.url)
	op, by := one.desk(), audit.By{Who: "tester"}
	for _, p := range []*town{one, two} {
		p.refuses(peer, true)
	}
	one.befriend(peer.base, peer.self())
	two.refuses(peer, false)
	s, err := op.Peers.Find(t.Context(), peer.hub)
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		does    string
		do      func() error
		refuses bool
	}{
		{"pause", func() error { return op.Peers.Pause(t.Context(), s, by) }, true},
		{"resume", func() error { return op.Peers.Resume(t.Context(), s, by) }, false},
		{"remove", func() error { return op.Peers.Remove(t.Context(), s, false, by) }, true},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.does, err)
		}
		one.refuses(peer, step.refuses)
		two.refuses(peer, step.refuses)
	}
}

// A peers file that cannot be right stops the start with the file, the line and the
// key.
func TestAWrongPeersFileStopsTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	if err := os.WriteFile(path, []byte("{\"peers\": [\n{\"endpoint\": \"ftp://x\"}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Defaults()
	cfg.Listen, cfg.DatabaseURL, cfg.PeersFile = "127.0.0.1:0", pgtest.URL(t), path
	a, err := New(t.Context(), cfg, quiet, NewRegistry())
	if err == nil {
		t.Fatalf("the hub starts at %s", a.Addr())
	}
	for _, part := range []string{path, "line 2, /peers/0/endpoint", "begins with https://"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it says %v, want %s in it", err, part)
		}
	}
}
