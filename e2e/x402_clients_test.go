package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit/golden"
	"github.com/anet-hub/anet/shared/testkit/need"
	"github.com/anet-hub/anet/shared/wire"
)

// stall is an agent that sells text.digest for 5 credits at its hub's gateway.
func stall(t *testing.T, hub *stage.Hub) *stage.Agent {
	t.Helper()
	a := stage.NewAgent(t, hub)
	card, err := adp.Offer{RedeemAt: "https://stall.example.org/redeem", Prices: map[string]uint64{"text.digest": 5, "text.other": 5}}.
		Sign(a.Controller, 0, time.Now())
	stage.Must(t, err)
	body := a.Registration("text.digest")
	body.Card = card
	if got := a.Do(wire.ActionRegister, "/register", body); got.Status != http.StatusOK {
		t.Fatalf("the stall is not registered: %s", got)
	}
	return a
}

// buyer is a node that programs may have pay these agents.
func buyer(t *testing.T, hub *stage.Hub, payees ...string) *stage.Node {
	t.Helper()
	n := stage.StartNode(t, hub, stage.NodeConfig{Name: "buyer", More: map[string]any{
		"payments": map[string]any{"agent_max": 5, "agent_daily_max": 50, "payees": payees},
	}})
	credits(t, n, 100)
	return n
}

// javascript are the programs of e2e/clients, with what they need beside them.
func javascript(t *testing.T) (node, dir string) {
	t.Helper()
	from := filepath.Join(stage.Root(), "e2e", "clients")
	node, modules := need.NodeModules(t, from)
	dir = stage.Dir(t)
	scripts, err := filepath.Glob(filepath.Join(from, "*.mjs"))
	stage.Must(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		stage.Must(t, err)
		stage.Write(t, filepath.Join(dir, filepath.Base(script)), string(text))
	}
	stage.Must(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	return node, dir
}

// bought is what pay.mjs says.
type bought struct {
	Status     int
	Body       map[string]any
	Settlement *payment.SettlementResponse
	Quote      payment.PaymentRequired
}

// pays has the official client buy something, with what the node signs.
func pays(t *testing.T, n *stage.Node, at, network string) (b bought) {
	t.Helper()
	node, dir := javascript(t)
	out := stage.Run(t, 2*stage.Patience, stage.Command{
		Name: "pay.mjs", Path: node, Args: []string{filepath.Join(dir, "pay.mjs"), at, network, stage.Binary(t, "anet")},
		Env: []string{"ANET_DATA_DIR=" + n.Dir},
	})
	if out.Code != 0 || json.Unmarshal([]byte(out.Out), &b) != nil {
		t.Fatalf("the client: %s", out)
	}
	return b
}

// The official client for JavaScript buys at the gateway, with an authorization that
// the node behind anet authorize signs.
func TestTheOfficialClientBuysAtTheGateway(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	seller := stall(t, &hub.Hub)
	n := buyer(t, &hub.Hub, seller.AID())
	names := stage.Names{"$HUB": hub.AID, "$SELLER": seller.AID(), "$PAYER": n.AID}
	record := stage.Record(t, &hub.Hub, names)

	b := pays(t, n, record.Hub.URL+"/x402/resource/"+seller.AID()+"/text.digest", payment.Network(hub.AID))
	if b.Status != 200 || b.Body["voucher"] == "" || b.Settlement == nil || !b.Settlement.Success || b.Settlement.Amount != "5" {
		t.Fatalf("the client bought %+v", b)
	}
	if _, shown, err := b.Settlement.Receipt(); !shown || err != nil {
		t.Errorf("no receipt reached the client: %v", err)
	}
	golden.Equal(t, "testdata/x402/gateway.json", record.Transcript(t))
	credits(t, n, 95)
	audited(t, hub)
}

// The official client for discovery finds what is sold, where it is given the address
// of the facilitator and nothing else.
func TestTheOfficialClientFindsWhatIsSold(t *testing.T) {
	hub := stage.HubInside(t)
	seller := stall(t, &hub.Hub)
	record := stage.Record(t, &hub.Hub, stage.Names{"$HUB": hub.AID, "$SELLER": seller.AID()})
	node, dir := javascript(t)
	out := stage.Run(t, 2*stage.Patience, stage.Command{
		Name: "find.mjs", Path: node, Args: []string{filepath.Join(dir, "find.mjs"), record.Hub.URL + "/x402", seller.AID()},
	})
	var found wire.Resources
	if out.Code != 0 || json.Unmarshal([]byte(out.Out), &found) != nil || found.Pagination.Total != 2 || len(found.Items) != 2 {
		t.Fatalf("the client found %+v: %s", found, out)
	}
	first := found.Items[0]
	if first.Metadata.Capability != "text.digest" || first.Accepts[0].PayTo != seller.AID() || !strings.HasSuffix(first.Resource, "/x402/resource/"+seller.AID()+"/text.digest") {
		t.Errorf("the client found %+v", first)
	}
	golden.Equal(t, "testdata/x402/found.json", record.Transcript(t))
}

// The official middleware for Express sells with the hub as its facilitator, in both
// of the orders that it knows.
func TestTheOfficialMiddlewareSettlesAtTheHub(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	seller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "seller"})
	n := buyer(t, &hub.Hub, seller.AID)
	for i, order := range []string{"upfront", "after"} {
		record := stage.Record(t, &hub.Hub, stage.Names{"$HUB": hub.AID, "$SELLER": seller.AID, "$PAYER": n.AID})
		shop := express(t, record.Hub.URL+"/x402", payment.Network(hub.AID), seller.AID)
		b := pays(t, n, shop+"/"+order, payment.Network(hub.AID))
		if b.Status != 200 || b.Body["digest"] != "2cf24dba" || b.Settlement == nil || !b.Settlement.Success {
			t.Fatalf("%s: the client bought %+v", order, b)
		}
		golden.Equal(t, "testdata/x402/"+order+".json", record.Transcript(t))
		credits(t, n, uint64(95-5*i))
		credits(t, seller, uint64(105+5*i))
	}
	audited(t, hub)
}

// express starts shop.mjs and gives its address.
func express(t *testing.T, facilitator, network, payee string) string {
	t.Helper()
	node, dir := javascript(t)
	cmd := exec.Command(node, filepath.Join(dir, "shop.mjs"), facilitator, network, payee)
	cmd.Env = stage.Environment()
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	stage.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	stage.Must(t, err)
	stage.Must(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the shop ended with %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the shop does not listen: %v", err)
	}
	return strings.TrimSpace(line)
}

// What these clients sent once is understood still, and answered in the same way,
// also where there is no Node.js.
func TestRecordedClients(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"gateway.json", "upfront.json", "after.json", "found.json"} {
		t.Run(file, func(t *testing.T) {
			recorded, err := os.ReadFile(filepath.Join("testdata", "x402", file))
			stage.Must(t, err)
			hub := stage.HubInside(t)
			seller, payer := stall(t, &hub.Hub), stage.NewAgent(t, &hub.Hub)
			payer.Register()
			names := stage.Names{"$HUB": hub.AID, "$SELLER": seller.AID(), "$PAYER": payer.AID()}
			names["$AUTHORIZATION"] = authorization(t, payer, seller.AID(), 5)
			granted(t, hub, payer.AID())
			again := names.Replay(t, &hub.Hub, []byte(strings.ReplaceAll(string(recorded), "$HOST", "127.0.0.1:1")))
			golden.Equal(t, filepath.Join("testdata", "x402", file), stage.Transcript(t, again))
			audited(t, hub)
		})
	}
}

// authorization is one of an agent, in base64.
func authorization(t *testing.T, payer *stage.Agent, payee string, amount uint64) string {
	t.Helper()
	raw, _, err := payment.SignAuthorization(payer.Controller, payment.Authorization{
		Payer: payer.AID(), PayTo: payee, Amount: amount, Network: payment.Network(payer.Hub.AID),
		Nonce: "000000000000000000000001",
	}.Issued(time.Now()))
	stage.Must(t, err)
	return payment.NewPayload(payment.Requirements{}, raw).Payload.Authorization
}

// granted waits until an account holds what a first registration brings.
func granted(t *testing.T, hub *stage.InnerHub, aid string) {
	t.Helper()
	stage.Until(t, stage.Patience, "the grant is booked", func() bool {
		out := hub.Operate(t, "credit", "balance", aid, "--json")
		return strings.Contains(out.Out, "100")
	})
}

// audited holds the books to everything that moved them.
func audited(t *testing.T, hub stage.Operator) {
	t.Helper()
	if out := hub.Operate(t, "credit", "audit", "--json"); out.Code != 0 || !strings.Contains(out.Out, `"wrong": []`) {
		t.Errorf("the books: %s", out)
	}
}
