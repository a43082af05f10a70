package federation

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// Who is a peer already is entered no second time; what runs at every start says
// that this is what it wants.
func TestAPeerIsEnteredOnce(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	again := []string{"peer", "add", hubs.b.URL, "--yes", "--peer-allow-range", "127.0.0.0/8"}
	for _, tt := range []struct {
		flag string
		code int
		says string
	}{{"--name=other", 1, "already"}, {"--if-missing", 0, "there already"}} {
		out := hubs.a.Operate(t, append(again, tt.flag)...)
		if out.Code != tt.code || !strings.Contains(out.Out+out.Err, tt.says) {
			t.Errorf("peer add %s: %s, want exit %d and %q", tt.flag, out, tt.code, tt.says)
		}
	}
	if n := len(stage.Peers(t, hubs.a)); n != 1 {
		t.Errorf("%d peers, want one", n)
	}
}

// A peer that is paused is neither sent to nor taken from: senders are told to try
// again, and what it taught stays listed. One that is removed takes that with it. Neither needs a restart.
func TestPeersArePausedAndRemoved(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	anna, bert := agent(t, hubs.a, "a", "a.work"), agent(t, hubs.b, "b", "b.work")
	learns(t, &hubs.a.Hub, "b.work", bert.AID(), stage.PublicURL("b"))
	carried(t, anna, bert, hubs.b.AID)
	operate := func(args ...string) {
		t.Helper()
		if out := hubs.a.Operate(t, append([]string{"peer"}, args...)...); out.Code != 0 {
			t.Fatalf("peer %q: %s", args, out)
		}
	}
	sends := func(from, to *stage.Agent) string {
		return from.Send(to.AID(), stage.Sealed(to.AID(), 100)).Code()
	}

	operate("pause", "to-b")
	stage.Until(t, stage.Patience, "nothing is sent to it", func() bool { return sends(anna, bert) == "502 peers_failed" })
	if got := sends(bert, anna); got != "502 peers_failed" {
		t.Errorf("mail from it: %s, want 502 peers_failed", got)
	}
	if !hubs.a.Lists(t, "b.work", bert.AID()) {
		t.Error("what it taught is gone")
	}
	operate("resume", "to-b")
	stage.Until(t, round, "mail is carried again both ways", func() bool { return sends(anna, bert) == "200" && sends(bert, anna) == "200" })

	operate("remove", "to-b", "--yes")
	stage.Until(t, stage.Patience, "its agents are gone", func() bool { return !hubs.a.Lists(t, "b.work", bert.AID()) })
	stage.Until(t, stage.Patience, "mail is not carried there", func() bool { return sends(anna, bert) == "404 unknown_recipient" })
	stage.AddPeer(t, hubs.a, "to-b", hubs.b.URL)
	learns(t, &hubs.a.Hub, "b.work", bert.AID(), stage.PublicURL("b"))
}
