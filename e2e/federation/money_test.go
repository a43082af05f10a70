package federation

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/payment"
)

// grant is what each agent that pays or is paid begins with.
const grant = 1_000_000

// money is a stream of payments of one credit each, from an agent of one hub to one of
// another, which has its own hub take them.
type money struct {
	a, b         *stage.HubProcess
	payer, payee *stage.Agent

	paying      rounds.Flow
	made        [][]byte // of this round
	total, lost int
	paidOff     uint64
}

func newMoney(t *testing.T, a, b *stage.HubProcess) *money {
	t.Helper()
	m := &money{a: a, b: b, payer: stage.NewAgent(t, a.Hub), payee: stage.NewAgent(t, b.Hub)}
	for _, agent := range []*stage.Agent{m.payer, m.payee} {
		agent.HTTP.Timeout = stage.Stall
		agent.Register()
		stage.Until(t, stage.Patience, "the grant is booked", func() bool { return agent.Balance(stage.Patience) == grant })
	}
	for hub, peer := range map[*stage.HubProcess]string{a: "to-b", b: "to-a"} {
		if out := hub.Operate(t, "credit", "allow", peer, "--limit", strconv.Itoa(grant)); out.Code != 0 {
			t.Fatalf("credit allow: %s", out)
		}
	}
	return m
}

// Begin makes one payment after the other until End.
func (m *money) Begin(t *testing.T) {
	m.made = nil
	m.paying.Start(10*time.Millisecond, func() {
		body := m.payment(t)
		m.made = append(m.made, body)
		if !m.bring(body) {
			m.lost++
		}
	})
}

// End waits for the payment that is under way.
func (m *money) End(*testing.T) { m.paying.Stop() }

// payment is what the payee brings to its hub.
func (m *money) payment(t *testing.T) []byte {
	network := payment.Network(m.a.AID)
	signed, _, err := payment.SignAuthorization(m.payer.Controller, payment.Authorization{Payer: m.payer.AID(), PayTo: m.payee.AID(), Amount: 1,
		Network: network, Nonce: rand.Text()}.Issued(time.Now()))
	if err != nil {
		t.Error(err)
	}
	option := payment.NewOption(network, m.payee.AID(), 1, payment.Window)
	pay := payment.NewPayload(option, signed)
	body, err := json.Marshal(payment.FacilitatorRequest{X402Version: payment.X402Version, PaymentPayload: &pay, PaymentRequirements: &option})
	if err != nil {
		t.Error(err)
	}
	return body
}

func (m *money) bring(body []byte) bool {
	resp, err := m.payee.HTTP.Post(m.b.URL+"/x402/settle", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var s payment.SettlementResponse
	return json.NewDecoder(resp.Body).Decode(&s) == nil && s.Success
}

// Check brings every payment again, until its outcome is known: each moved once, each
// hub says the same of what is owed, and both books hold. Then some of it is paid off.
func (m *money) Check(t *testing.T) {
	t.Helper()
	for _, body := range m.made {
		stage.Until(t, 2*rounds.Limit, "a payment is settled", func() bool { return m.bring(body) })
	}
	m.total += len(m.made)
	if from, to := m.payer.Balance(rounds.Limit), m.payee.Balance(rounds.Limit); from != uint64(grant-m.total) || to != uint64(grant+m.total) {
		t.Errorf("after %d payments: %d and %d credits", m.total, from, to)
	}
	owes, owed := m.debt(t, m.a).Due, m.debt(t, m.b).Owed
	if want := uint64(m.total) - m.paidOff; owes != want || owed != want {
		t.Errorf("the one hub says that it owes %d, the other that it is owed %d, want %d", owes, owed, want)
	}
	for _, hub := range []*stage.HubProcess{m.a, m.b} {
		if out := hub.Operate(t, "credit", "audit", "--json"); !strings.Contains(out.Out, `"wrong": []`) {
			t.Errorf("the books of %s: %v", hub.Name, out)
		}
	}
	m.payOff(t, owes/2)
}

func (m *money) payOff(t *testing.T, amount uint64) {
	t.Helper()
	if amount == 0 {
		return
	}
	if out := m.a.Operate(t, "credit", "clear", "to-b", strconv.FormatUint(amount, 10), "--yes"); out.Code != 0 {
		t.Errorf("credit clear: %s", out)
	}
	m.paidOff += amount
}

// debt is how a hub and its one peer stand.
func (m *money) debt(t *testing.T, hub *stage.HubProcess) (d struct{ Owed, Due uint64 }) {
	t.Helper()
	var all struct {
		Peers []struct{ Owed, Due uint64 }
	}
	out := hub.Operate(t, "credit", "due", "--json")
	if err := json.Unmarshal([]byte(out.Out), &all); err != nil || len(all.Peers) != 1 {
		t.Fatalf("credit due: %v %s", err, out)
	}
	return all.Peers[0]
}
