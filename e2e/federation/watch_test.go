package federation

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/wire"
)

// peersIn is what anet-hub doctor says of peers.
func peersIn(t *testing.T, hub *stage.InnerHub) (said, found string) {
	t.Helper()
	out := hub.Operate(t, "doctor", "--json", "--url", hub.URL, "--peer-allow-range", "127.0.0.0/8")
	var exam struct {
		Checks []struct{ Check, Status, Message, Next string }
	}
	if err := json.Unmarshal([]byte(out.Out), &exam); err != nil {
		t.Fatalf("anet-hub doctor: %v: %s", err, out)
	}
	for _, c := range exam.Checks {
		switch {
		case c.Check != "peers":
		case c.Status == "finding":
			found += c.Message + " -> " + c.Next + "\n"
		default:
			said += c.Message + "\n"
		}
	}
	return said, found
}

// peerSeries are the metrics of a hub that speak of a peer, without its name.
func peerSeries(t *testing.T, hub *stage.InnerHub, peer string) map[string]float64 {
	t.Helper()
	of := map[string]float64{}
	for name, v := range stage.Series(t, &hub.Hub) {
		if label := `peer="` + peer + `"`; strings.Contains(name, label) {
			name = strings.NewReplacer(","+label, "", label+",", "", label, "").Replace(name)
			of[strings.TrimSuffix(name, "{}")] = v
		}
	}
	return of
}

// Operators see how peers do: what goes back and forth, who refuses whom and whose
// turn it is, and nothing of a peer that is gone.
func TestOperatorsSeeHowPeersDo(t *testing.T) {
	t.Parallel()
	hubs := federated(t, func(c *app.Config) { c.Envelope = 1 << 20 })
	sender, far := agent(t, hubs.a, "a", "a.work"), agent(t, hubs.b, "b", "b.work")
	learns(t, &hubs.a.Hub, "b.work", far.AID(), stage.PublicURL("b"))
	var sent wire.Sent
	sender.Send(far.AID(), stage.Sealed(far.AID(), 500)).Ask(t, &sent)
	if sent.ViaHub != hubs.b.AID {
		t.Errorf("the message was sent %+v", sent)
	}

	stage.Until(t, stage.Patience, "metrics tell what was learned of the peer", func() bool {
		return peerSeries(t, hubs.a, "to-b")["anet_hub_peer_agents"] == 1
	})
	of := peerSeries(t, hubs.a, "to-b")
	for name, want := range map[string]float64{
		"anet_hub_peer_proven": 1, "anet_hub_peer_circuit_open": 0,
		`anet_hub_forward_offered_total{outcome="taken"}`: 1,
	} {
		if got, told := of[name]; !told || got != want {
			t.Errorf("%s is %v, told %v; want %v", name, got, told, want)
		}
	}
	if at := time.Unix(int64(of["anet_hub_peer_last_success_timestamp_seconds"]), 0); time.Since(at) > round {
		t.Errorf("the peer last answered at %v", at)
	}
	if lag, told := of[`anet_hub_peer_pull_lag_seconds{stream="cards"}`]; !told || lag > round.Seconds() {
		t.Errorf("the stream was read %v s ago, told %v", lag, told)
	}
	if got := peerSeries(t, hubs.b, "to-a")[`anet_hub_forward_received_total{outcome="queued"}`]; got != 1 {
		t.Errorf("the other hub counts %v messages", got)
	}
	// The address that hubs of stories call themselves by is nobody's.
	if said, found := peersIn(t, hubs.a); strings.Count(found, "\n") != 1 || !strings.Contains(found, "public URL https://a.example.org leads nowhere") || !strings.Contains(said, "to-b proves who it is, agrees about the time, takes mail of this hub, tells of its agents") {
		t.Errorf("the doctor finds %q and says %q", found, said)
	}

	if out := hubs.b.Operate(t, "peer", "remove", "to-a", "--yes"); out.Code != 0 {
		t.Fatal(out)
	}
	stage.Until(t, stage.Patience, "the series of the peer that was removed are gone", func() bool { return len(peerSeries(t, hubs.b, "to-a")) == 0 })
	if _, found := peersIn(t, hubs.a); !strings.Contains(found, "takes nothing from this hub") || !strings.Contains(found, "tells nothing of its agents") ||
		!strings.Contains(found, "anet-hub peer add https://a.example.org") {
		t.Errorf("removed there, the doctor finds %q", found)
	}
	stage.Must(t, hubs.b.Stop())
	if _, found := peersIn(t, hubs.a); !strings.Contains(found, "to-b does not prove who it is") || !strings.Contains(found, "curl ") {
		t.Errorf("with the peer down the doctor finds %q", found)
	}
}
