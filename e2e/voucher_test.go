package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit/need"
	"github.com/anet-hub/anet/shared/wire"
)

// freeAddress is one on this machine that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", stage.FreePort(t))
}

// redeemer is a node that sells p.sold through the gateway and takes vouchers at an
// address of its own; p.kept has a price, too, and is not sold there.
func redeemer(t *testing.T, program *stage.Program) stage.NodeConfig {
	t.Helper()
	at := freeAddress(t)
	service := func(id string, more map[string]any) map[string]any {
		more["id"], more["url"], more["price"] = id, program.URL, 5
		return more
	}
	return stage.NodeConfig{Name: "shop", Public: []any{"p.sold", "p.kept"}, More: map[string]any{"modules": map[string]any{
		"x402":    map[string]any{"listen": at, "url": "http://" + at + "/redeem"},
		"service": map[string]any{"capabilities": []any{service("p.sold", map[string]any{"gateway": true}), service("p.kept", map[string]any{})}},
	}}}
}

// Somebody with curl buys a call at the hub and has it done at the node, which keeps
// to what its operator chose to sell there.
func TestANodeSellsThroughTheGateway(t *testing.T) {
	t.Parallel()
	c := counter{hub: stage.HubInside(t), curl: need.Program(t, "curl")}
	program := stage.StartProgram(t, nil)
	seller := stage.StartNode(t, &c.hub.Hub, redeemer(t, program))
	caller := stage.StartNode(t, &c.hub.Hub, stage.NodeConfig{Name: "caller"})
	credits(t, caller, 100)
	credits(t, seller, 100)
	resource := c.hub.URL + "/x402/resource/" + seller.AID + "/"
	if a := c.ask(t, resource+"p.kept"); a.Status != http.StatusNotFound {
		t.Errorf("what was not chosen to be sold: %s, want 404", a)
	}
	quote := c.ask(t, resource+"p.sold")
	if quote.Status != http.StatusPaymentRequired {
		t.Fatalf("the quote: %s", quote)
	}
	signed := caller.OK("authorize", quote.Header.Get(payment.HeaderRequired), "--yes").Out
	bought := c.ask(t, resource+"p.sold", string(bytes.TrimSpace([]byte(signed))))
	var sold wire.Sold
	if bought.Status != http.StatusOK || bought.Read(&sold) != nil || sold.RedeemAt == "" {
		t.Fatalf("the purchase: %s", bought)
	}
	redeem := func(capability string) stage.Answer {
		t.Helper()
		body, err := json.Marshal(map[string]any{"voucher": sold.Voucher, "capability": capability, "args": map[string]any{"n": 1}})
		stage.Must(t, err)
		r, err := http.NewRequest(http.MethodPost, sold.RedeemAt, bytes.NewReader(body))
		stage.Must(t, err)
		a, err := stage.Send(stage.NewClient(t), r)
		stage.Must(t, err)
		return a
	}
	if a := redeem("p.kept"); a.Status != http.StatusPaymentRequired || program.Total() != 0 {
		t.Errorf("for something else: %s, %d effects", a, program.Total())
	}
	done := redeem("p.sold")
	var got struct {
		Status, Payer, Capability string
		ID                        string `json:"voucher_id"`
	}
	if done.Status != http.StatusOK || done.Read(&got) != nil || got.Status != "OK" || got.Payer != caller.AID || program.Effects(got.ID) != 1 {
		t.Fatalf("the call: %s, %d effects", done, program.Total())
	}
	seller.Kill()
	seller.Up()
	if a := redeem("p.sold"); a.Status != http.StatusConflict || program.Total() != 1 {
		t.Errorf("once more, after a kill: %s, %d effects", a, program.Total())
	}
	credits(t, caller, 95)
	credits(t, seller, 105)
	audited(t, c.hub)
}
