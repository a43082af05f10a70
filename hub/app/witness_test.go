package app

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// Number 51, J.5: a hub attests where the chains of its peers end, keeps it, and
// brings it to them; it attests no chain that went back.
func TestChainsAreWitnessed(t *testing.T) {
	w := newBranches(t, 1000)
	look := func() {
		t.Helper()
		w.b.exec(`UPDATE witnessed SET next_at = 'epoch'`)
		if err := w.b.app.hub.credits.WitnessPeers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	look()
	seen := w.a.get("200", "/x402/witnesses").body
	list := seen["attestations"].([]any)
	health := seen["health"].(map[string]any)
	if len(list) != 1 || list[0].(map[string]any)["witness_aid"] != w.b.hub || health["unwitnessed_records"] != 0.0 || health["witnesses"] != 1.0 {
		t.Fatalf("%v", seen)
	}
	if at := seen["witness_endpoints"].(map[string]any)[w.b.hub]; at != w.b.base {
		t.Errorf("the witness is at %v, want %s", at, w.b.base)
	}
	w.a.joined("carol")
	testkit.Until(t, "another link of the chain", func() bool {
		return w.a.get("200", "/x402/issuance/head").body["seq"] == 2.0
	})
	look()
	if got := w.a.get("200", "/x402/witnesses").body["health"].(map[string]any); got["attestations"] != 2.0 || got["latest_seq"] != 2.0 {
		t.Errorf("%v", got)
	}
	w.a.exec(`UPDATE ledger SET head_seq = 1, head_id = (SELECT id FROM issuance WHERE seq = 1)`)
	look()
	if got := w.a.get("200", "/x402/witnesses").body["health"].(map[string]any); got["attestations"] != 2.0 {
		t.Errorf("a chain that went back was attested: %v", got)
	}
}

// The chain and the AID of the witness are not one's own, whatever peers say.
func TestAWitnessIsSomebodyElse(t *testing.T) {
	w := newBranches(t, 1000)
	head := w.a.get("200", "/x402/issuance/head").body
	signed, _, err := evidence.Attest(w.b.self().Key, evidence.Attestation{Chain: w.a.hub, Seq: uint64(head["seq"].(float64)),
		HeadID: head["head_id"].(string), ObservedAt: uint64(time.Now().UnixMilli())})
	if err != nil {
		t.Fatal(err)
	}
	w.a.post("200", "/x402/witness", wire.Witness{Attestation: signed})
	w.b.post("403 witness_unknown", "/x402/witness", wire.Witness{Attestation: signed})
}
