package ledger_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anet-hub/anet/hub/internal/ledger"
)

func (n *neighbour) Name(aid string) string {
	return map[string]string{n.key.AID(): "neighbour"}[aid]
}

// What a peer owes stands beside what it may, and one that is closed may owe nothing
// more. A chain that nobody ever saw has no age.
func TestTheBooksAreMeasured(t *testing.T) {
	b, n := newBorder(t)
	b.books.Debtors = []ledger.Debt{
		{Hub: n.key.AID(), Open: false, Most: 1000, Owed: 700, Due: 30},
		{Hub: b.alice.AID(), Open: true, Most: 5}, // no peer any more
	}
	if err := b.Measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReader(`
		# HELP anet_hub_ledger_peer_due Credits that this hub owes a peer.
		# TYPE anet_hub_ledger_peer_due gauge
		anet_hub_ledger_peer_due{peer="neighbour"} 30
		# HELP anet_hub_ledger_peer_owed Credits that a peer owes this hub.
		# TYPE anet_hub_ledger_peer_owed gauge
		anet_hub_ledger_peer_owed{peer="neighbour"} 700
		# HELP anet_hub_ledger_peer_owed_limit Credits that a peer may owe this hub; 0 while its payments are not taken.
		# TYPE anet_hub_ledger_peer_owed_limit gauge
		anet_hub_ledger_peer_owed_limit{peer="neighbour"} 0
	`)
	if err := testutil.GatherAndCompare(b.registry, want, "anet_hub_ledger_peer_due", "anet_hub_ledger_peer_owed",
		"anet_hub_ledger_peer_owed_limit", "anet_hub_ledger_chain_unseen_records"); err != nil {
		t.Error(err)
	}
	b.books.Seen = ledger.Witnesses{Count: 1, LatestAt: start, LatestSeq: 2}
	b.books.Chain = make([]ledger.Link, 5)
	if err := b.Measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = strings.NewReader(`
		# HELP anet_hub_ledger_chain_unseen_records Records of this hub's chain behind the last that another hub saw.
		# TYPE anet_hub_ledger_chain_unseen_records gauge
		anet_hub_ledger_chain_unseen_records 3
	`)
	if err := testutil.GatherAndCompare(b.registry, want, "anet_hub_ledger_chain_unseen_records"); err != nil {
		t.Error(err)
	}
}
