package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// price is what the demo's provider asks for text.digest where it is paid at all.
const price = 5

// paying is the story of purchases: one between two nodes, and at the hub's gateway
// one with nothing but curl and a signature, and one with a node's commands.
func (n *network) paying(ctx context.Context) error {
	s, err := openStall(ctx, n.url)
	if err != nil {
		return err
	}
	defer s.server.Close()
	say("the first registration brings credits: entries in the hub's books, and no money")
	if err := n.granted(ctx); err != nil {
		return err
	}
	say("the call of a capability that has a price, paid within the limits of the node")
	if err := n.buyFromNode(ctx, s.history); err != nil {
		return err
	}
	say("the same at the hub's gateway, with curl: a quote, a signature, a voucher")
	if err := n.buyAtGateway(ctx, s); err != nil {
		return err
	}
	say("once more, with the two commands that a node has for it")
	if err := n.buyWithCommands(ctx, s); err != nil {
		return err
	}
	say("the books of the hub hold")
	return n.audit(ctx)
}

// granted waits for what the hub books moments after a registration.
func (n *network) granted(ctx context.Context) error {
	err := n.hub.until(ctx, "it booked the grant", func() bool {
		cmd := exec.CommandContext(ctx, n.caller.anet, "--data-dir", n.caller.dir, "balance")
		cmd.Env = environment()
		out, err := cmd.Output()
		return err == nil && strings.TrimSpace(string(out)) == "100"
	})
	if err != nil {
		return err
	}
	out, err := n.caller.run(ctx, "balance")
	fmt.Print(out)
	return err
}

func (n *network) buyFromNode(ctx context.Context, hub *identity.History) error {
	aid, err := n.find(ctx, "text.digest")
	if err != nil {
		return err
	}
	out, err := n.caller.run(ctx, "delegate", aid, "--capability", "text.digest", "--args", `{"text":"hello"}`,
		"--pay", "--max", fmt.Sprint(price), "--wait", "30s", "--json")
	if err != nil {
		return err
	}
	var t struct {
		Effect      string `json:"effect_status"`
		Receipt     string `json:"receipt_verified"`
		Deliverable struct {
			Evidence struct {
				Observed string `json:"observed_state"`
			} `json:"evidence"`
		} `json:"deliverable"`
		Payment struct {
			Status  string
			Receipt []byte
		}
	}
	if err := json.Unmarshal([]byte(out), &t); err != nil {
		return err
	}
	fmt.Printf("effect  %s: %s\npayment %s\n", t.Effect, t.Deliverable.Evidence.Observed, t.Payment.Status)
	if t.Effect != "OK" || t.Receipt != "verified" || t.Payment.Status != "paid" {
		return fmt.Errorf("the call was not paid and done:\n%s", out)
	}
	return showReceipt(t.Payment.Receipt, hub, aid, price)
}

// showReceipt verifies a receipt as anybody could, and prints what it says.
func showReceipt(raw []byte, hub *identity.History, payee string, amount uint64) error {
	r, err := payment.ParseReceipt(raw)
	if err != nil {
		return err
	}
	if err := r.Verify(hub); err != nil {
		return err
	}
	if r.PayTo != payee || r.Amount != amount {
		return fmt.Errorf("the receipt is for %d credits to %s", r.Amount, r.PayTo)
	}
	fmt.Printf("receipt %s\n        %d credits\n        from %s\n        to   %s\n        at   %s\n        signed by the hub %s\n",
		r.AuthID, r.Amount, r.Payer, r.PayTo, time.UnixMilli(int64(r.SettleAt)).UTC().Format(time.RFC3339), hub.AID())
	return nil
}

func (n *network) buyAtGateway(ctx context.Context, s *stall) error {
	at := n.url + "/x402/resource/" + s.key.AID() + "/" + stallSells
	quoted, err := n.request(ctx, at)
	if err != nil {
		return err
	}
	signature, err := n.caller.run(ctx, "authorize", quoted.header(payment.HeaderRequired), "--yes")
	if err != nil {
		return err
	}
	sold, err := n.request(ctx, at, "-H", payment.HeaderSignature+": "+strings.TrimSpace(signature))
	if err != nil {
		return err
	}
	var voucher struct {
		Voucher  string
		RedeemAt string `json:"redeem_at"`
	}
	if err := json.Unmarshal([]byte(sold.body), &voucher); err != nil || voucher.Voucher == "" {
		return fmt.Errorf("no voucher was sold: %s", sold.body)
	}
	if err := s.shown(sold); err != nil {
		return err
	}
	order := fmt.Sprintf(`{"voucher":%q,"capability":%q,"args":{"text":"hello"}}`, voucher.Voucher, stallSells)
	done, err := n.request(ctx, voucher.RedeemAt, "-d", order)
	if err != nil {
		return err
	}
	if fmt.Print(done.body); !strings.Contains(done.body, `"status":"OK"`) {
		return errors.New("the stall did not take the voucher")
	}
	return nil
}

// buyWithCommands does all of it with a node's own two commands.
func (n *network) buyWithCommands(ctx context.Context, s *stall) error {
	bought, err := n.caller.run(ctx, "voucher", "buy", s.key.AID(), stallSells, "--yes", "--json")
	if err != nil {
		return err
	}
	file := filepath.Join(n.caller.dir, "bought.json")
	if err := os.WriteFile(file, []byte(bought), 0o600); err != nil {
		return err
	}
	done, err := n.caller.run(ctx, "voucher", "redeem", "--file", file, "--args", `{"text":"hello"}`)
	fmt.Print(done)
	return err
}

// shown verifies the receipt in an answer of the gateway.
func (s *stall) shown(sold response) error {
	raw, err := base64.StdEncoding.DecodeString(sold.header(payment.HeaderResponse))
	if err != nil {
		return err
	}
	settled, err := payment.ParseSettlement(raw)
	if err != nil {
		return err
	}
	receipt, err := settled.ReceiptBytes()
	if err != nil {
		return err
	}
	return showReceipt(receipt, s.history, s.key.AID(), stallPrice)
}

// response is what curl -i printed.
type response struct{ head, body string }

func (r response) header(name string) string {
	for line := range strings.Lines(r.head) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// request asks with nothing but curl.
func (n *network) request(ctx context.Context, url string, more ...string) (r response, err error) {
	fmt.Printf("$ curl %s\n", shell(append(more, url)))
	out, err := exec.CommandContext(ctx, "curl", append([]string{"-sSi", url}, more...)...).Output()
	if err != nil {
		return r, fmt.Errorf("curl: %w", err)
	}
	head, body, _ := strings.Cut(string(out), "\r\n\r\n")
	status, _, _ := strings.Cut(head, "\r\n")
	fmt.Println(status)
	return response{head, body}, nil
}

// audit has the hub's operator recompute everything.
func (n *network) audit(ctx context.Context) error {
	fmt.Println("$ anet-hub credit audit")
	cmd := exec.CommandContext(ctx, filepath.Join(n.bin, "anet-hub"), "credit", "audit", "--data-dir", n.data())
	cmd.Env, cmd.Stderr = environment(), os.Stderr
	out, err := cmd.Output()
	fmt.Print(string(out))
	return err
}
