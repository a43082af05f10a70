package cli

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/node"
)

// quotedTask waits to be paid.
func quotedTask(id string) node.Task {
	return node.Task{
		ID: id, Role: node.Requester, Peer: somebody, Capability: "text.translate", State: "input-required",
		Effect: ptr("PAYMENT_REQUIRED"), ReceiptVerified: "unknown",
		Payment: &node.Payment{Status: node.PayRequired, Amount: "5", Network: "hub:x", Payee: somebody},
	}
}

func TestPay(t *testing.T) {
	p := newPerson(t)
	p.up()
	p.node.May.ExplicitMax = 10
	p.node.Put(quotedTask("ix_1"))
	p.node.Put(node.Task{ID: "ix_2", Role: node.Requester, Peer: somebody, State: "working", ReceiptVerified: "unknown"})
	if out, _ := p.wants(exitPayment, "task", "get", "ix_1", "--wait", "1s"); !strings.Contains(out, "5 credits, to be paid: anet pay ix_1") {
		t.Errorf("the task is shown as %q", out)
	}
	if _, says := p.wants(exitUse, "pay", "ix_1"); !strings.Contains(says, "Pay 5 credits to "+somebody) {
		t.Errorf("without a person it says %q", says)
	}
	out, _ := p.wants(exitDone, "pay", "ix_1", "--yes", "--json")
	if !strings.Contains(out, `"status": "submitted"`) {
		t.Errorf("paid: %s", out)
	}
	for _, id := range []string{"ix_1", "ix_2"} {
		if out, _ := p.wants(exitError, "pay", id, "--yes", "--json"); !strings.Contains(out, `"no_pending_quote"`) {
			t.Errorf("%s: %s", id, out)
		}
	}
	again := quotedTask("ix_5") // one payment failed, and the provider works on nothing yet
	again.State, again.Payment.Status = "working", node.PayFailed
	p.node.Put(again)
	if _, says := p.wants(exitUse, "pay", "ix_5"); !strings.Contains(says, "Pay 5 credits to "+somebody) {
		t.Errorf("after a payment that failed it says %q", says)
	}
	p.node.May.ExplicitMax = 4
	p.node.Put(quotedTask("ix_3"))
	p.wants(exitRefused, "pay", "ix_3", "--yes")
	p.node.May.ExplicitMax = 10
	for _, amount := range []string{"many\x1b[31m", "0", "007", "9223372036854775808"} { // a yes to nothing would be one to anything
		odd := quotedTask("ix_4")
		odd.Payment.Amount = amount
		p.node.Put(odd)
		if out, says := p.wants(exitError, "pay", "ix_4", "--yes"); strings.Contains(out+says, "\x1b") {
			t.Errorf("said %q %q", out, says)
		}
	}
}

func TestLimits(t *testing.T) {
	p := newPerson(t)
	p.up()
	p.node.May = node.LimitsOf(config.DefaultLimits())
	p.node.May.SpentToday = 7
	if out, _ := p.wants(exitDone, "payments", "show"); !strings.Contains(out, "today: 7") {
		t.Errorf("shown: %s", out)
	}
	for _, line := range []string{"--explicit-max 11", "--auto-max 1", "--payee-list off", "--daily-max 51 --explicit-max 1"} {
		p.wants(exitUse, strings.Fields("payments set "+line)...) // asked, and nobody is there
	}
	p.wants(exitDone, "payments", "set", "--explicit-max", "3", "--daily-max", "9")
	p.wants(exitDone, "payments", "set", "--payee-list", "on")
	p.wants(exitDone, "payments", "set", "--agent-max", "2", "--yes")
	if m := p.node.May; m.ExplicitMax != 3 || m.DailyMax != 9 || m.AgentMax != 2 || !m.PayeeList {
		t.Errorf("the limits are %+v", m)
	}
	p.wants(exitUse, "payees", "add", somebody)
	p.wants(exitDone, "payees", "add", somebody, "--yes")
	if out, _ := p.wants(exitDone, "payees", "list", "--json"); !strings.Contains(out, somebody) {
		t.Errorf("listed: %s", out)
	}
	p.wants(exitDone, "payees", "remove", somebody)
	for _, line := range []string{"payments set", "payments set --payee-list maybe", "payments set --auto-max -1", "payments set --auto-max 010 --yes", "payees add bafy --yes",
		"redeem 0 --yes", "redeem 007 --yes", "redeem 1.5 --yes", "redeem 5", "ledger --limit 0",
		"delegate " + somebody + " hello --pay", "delegate " + somebody + " --capability a --max 5", "delegate " + somebody + " --capability a --pay --max 0",
		"delegate " + somebody + " --capability a --pay --max 010", "voucher buy " + somebody + " a --max 0x10",
	} {
		p.wants(exitUse, strings.Fields(line)...)
	}
	if out, _ := p.wants(exitDone, "__complete", "payments", "set", "--payee-list", ""); !strings.Contains(out, "on\noff\n") {
		t.Errorf("offered: %q", out)
	}
	p.node.Purse.Credits = 42
	if out, _ := p.wants(exitDone, "balance"); out != "42\n" {
		t.Errorf("balance: %q", out)
	}
	p.wants(exitDone, "redeem", "5", "--reference", "x", "--yes")
}

func TestPricesOfACard(t *testing.T) {
	p := newPerson(t)
	p.up()
	shown := node.Card{AID: somebody, Verified: true, Charge: node.ChargeSome, Card: []byte(`{"name":"shop"}`)}
	for _, c := range []struct {
		change func(*node.Card)
		want   string
	}{
		{func(c *node.Card) { c.PricesError = node.CardUnanswered }, "did not answer"},
		{func(c *node.Card) { c.PricesError = "odd\x1b[31m" }, "odd"},
		{func(c *node.Card) {
			c.Prices = &node.Prices{Verified: true, Skills: []node.SkillPrice{{ID: "a", Amount: "0"}, {ID: "b", Amount: "5"}}}
		}, "5 credits"},
	} {
		card := shown
		c.change(&card)
		p.node.Cards = map[string]node.Card{somebody: card}
		if out, _ := p.wants(exitDone, "card", somebody); !strings.Contains(out, c.want) || strings.Contains(out, "\x1b") {
			t.Errorf("the card is shown as %q, want %q", out, c.want)
		}
	}
}
