package e2e

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	hubapp "github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/node/app"
)

// shop sells one capability for 5 credits, and gives another away.
func shop(program *stage.Program) stage.NodeConfig {
	return stage.NodeConfig{
		Name: "shop", Public: []any{"p.sold", "p.free"}, Prices: map[string]int{"p.sold": 5},
		Programs: map[string]string{"p.sold": program.URL, "p.free": program.URL, "p.private": program.URL},
	}
}

// credits waits until a node's account holds that many.
func credits(t *testing.T, n *stage.Node, want uint64) {
	t.Helper()
	var b struct {
		Credits uint64 `json:"credits"`
	}
	stage.Until(t, stage.Patience, n.Name+" has its credits", func() bool {
		return n.JSON(&b, "balance") == 0 && b.Credits == want
	})
}

// Prices are seen before anybody pays: that there are some in the directory, which
// ones by asking the agent, and no hub has them.
func TestPricesAreSeenBeforeAnybodyPays(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t, func(c *hubapp.Config) { c.PublicURL = "https://hub.example.org" })
	program := stage.StartProgram(t, nil)
	seller := stage.StartNode(t, &hub.Hub, shop(program))
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})

	if out := caller.OK("find", "--cap", "p.sold"); !strings.Contains(out.Out, "some paid") {
		t.Errorf("the directory says nothing of prices: %s", out)
	}
	raw := hub.Get(t, "/a2a/v1/agents/"+seller.AID+"/card")
	if text := string(raw.Body); !strings.Contains(text, "a2a-x402") || strings.Contains(text, "anet-pric") || !strings.Contains(text, `"extendedAgentCard":true`) {
		t.Errorf("the public card is %s; want it to declare payment, an extended card, and no price", text)
	}
	type card struct {
		Charge string `json:"charge"`
		Prices struct {
			Network  string                        `json:"network"`
			Source   string                        `json:"source"`
			Verified bool                          `json:"verified"`
			Skills   []struct{ ID, Amount string } `json:"skills"`
			Fetched  time.Time                     `json:"fetched"`
		} `json:"prices"`
	}
	look := func() (c card, prices string) {
		t.Helper()
		if code := caller.JSON(&c, "card", seller.AID); code != 0 {
			t.Fatalf("anet card: exit %d", code)
		}
		for _, s := range c.Prices.Skills {
			prices += s.ID + " " + s.Amount + " "
		}
		return c, prices
	}
	first, prices := look()
	if prices != "p.free 0 p.sold 5 " || first.Charge != "some" || first.Prices.Source != "extended" || !first.Prices.Verified || first.Prices.Network != "hub:"+hub.AID {
		t.Errorf("the card is %+v, want the seller's signed prices", first)
	}
	if again, _ := look(); !again.Prices.Fetched.Equal(first.Prices.Fetched) {
		t.Error("the card was fetched again at once")
	}
	if out := caller.OK("card", seller.AID); !strings.Contains(out.Out, "5 credits") || !strings.Contains(out.Out, "fetched") {
		t.Errorf("people read %s", out)
	}
	// Who is on a list of the seller sees what only such agents may call.
	friend := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "friend"})
	seller.OK("peers", "allow", friend.AID, "--yes")
	if out := friend.OK("card", seller.AID); !strings.Contains(out.Out, "p.private") {
		t.Errorf("a friend reads %s", out)
	}
}

// Buyer and seller are killed while they trade. Afterwards every payment moved
// once, every call was done at most once and none for nothing, and both hold the
// receipts.
func TestTradeThroughKills(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	seller := stage.StartNode(t, &hub.Hub, shop(program))
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller", More: map[string]any{"payments": map[string]any{"daily_max": 1000}}})
	credits(t, caller, 100)
	credits(t, seller, 100)

	var ids []string
	const calls = 8
	for range calls {
		var task app.Task
		caller.JSON(&task, "delegate", seller.AID, "--capability", "p.sold", "--pay")
		ids = append(ids, task.ID)
		victim := []*stage.Node{seller, caller}[rand.N(2)]
		time.Sleep(rand.N(150 * time.Millisecond))
		victim.Kill()
		victim.Up()
	}
	deadline := time.Now().Add(3 * time.Minute)
	for _, id := range ids {
		bought := caller.EndedBefore(deadline, id)
		sold := seller.EndedBefore(deadline, id)
		if bought.Payment == nil || bought.Payment.Status != "paid" || sold.Payment == nil || sold.Payment.Status != "paid" ||
			string(bought.Payment.Receipt) != string(sold.Payment.Receipt) || bought.ReceiptVerified != "verified" {
			t.Errorf("%s: %s, payments %+v and %+v; want one receipt with both", id, stage.Outcome(bought), bought.Payment, sold.Payment)
		}
		switch outcome := stage.Outcome(bought); {
		case outcome == "completed OK verified" && program.Effects(id) == 1:
		case outcome == "completed UNVERIFIED interrupted verified" && program.Effects(id) <= 1:
		default:
			t.Errorf("%s: %s with %d effects", id, outcome, program.Effects(id))
		}
	}
	credits(t, caller, 100-5*calls)
	credits(t, seller, 100+5*calls)
}

// Two hubs that clear with each other: a call is paid on the ledger where the buyer
// is, and the seller has its credits at its own.
func TestPayingAcrossHubs(t *testing.T) {
	t.Parallel()
	a, b := stage.FederatedHub(t, "a"), stage.FederatedHub(t, "b")
	stage.Federate(t, a, b.URL, b, a.URL)
	for hub, peer := range map[*stage.InnerHub]string{a: "to-b", b: "to-a"} {
		if out := hub.Operate(t, "credit", "allow", peer, "--limit", "1000"); out.Code != 0 {
			t.Fatalf("anet-hub credit allow: %s", out)
		}
	}
	stage.Until(t, stage.Patience, "both ledgers are supported", func() bool {
		return strings.Contains(string(b.Get(t, "/x402/supported").Body), a.AID)
	})
	if kel := string(b.Get(t, "/agents/"+a.AID+"/kel").Body); !strings.Contains(kel, `"source":"peer-hub"`) {
		t.Errorf("the history of a peer is %s, want the one that was pinned", kel)
	}
	program := stage.StartProgram(t, nil)
	seller := stage.StartNode(t, &b.Hub, shop(program))
	caller := stage.StartNode(t, &a.Hub, stage.NodeConfig{Name: "caller"})
	credits(t, caller, 100)
	credits(t, seller, 100)
	task, code := caller.Call(seller.AID, "p.sold", `{}`, "--pay")
	if code != 0 || task.Payment == nil || task.Payment.Status != "paid" || task.Payment.Network != "hub:"+a.AID || task.ViaHub != b.AID {
		t.Fatalf("exit %d, %s, payment %+v via %q; want it paid at the buyer's hub", code, stage.Outcome(task), task.Payment, task.ViaHub)
	}
	if sold := seller.Ended(task.ID); sold.Payment.Status != "paid" || program.Effects(task.ID) != 1 {
		t.Errorf("the seller has %+v and %d effects", sold.Payment, program.Effects(task.ID))
	}
	credits(t, caller, 95)
	credits(t, seller, 105)
}
