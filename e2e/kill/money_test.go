package kill

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// grant is what each agent begins with.
const grant = 1_000_000

// money is a stream of payments of one credit each: some are settled for tasks, some
// buy at the gateway, some are redeemed. Whoever pays keeps what it signed, and what
// it was told.
type money struct {
	hub          *stage.HubProcess
	payer, payee *stage.Agent

	paying rounds.Flow
	made   []*paid // of this round

	payments, redeemed int // of all rounds
}

// paid is a payment and the first good answer to it.
type paid struct {
	request func() (*http.Request, error)
	told    string // receipt or voucher; empty: no answer
	burns   bool
}

func newMoney(t *testing.T, hub *stage.HubProcess) *money {
	t.Helper()
	m := &money{hub: hub, payer: stage.NewAgent(t, hub.Hub), payee: stage.NewAgent(t, hub.Hub)}
	m.payer.HTTP.Timeout, m.payee.HTTP.Timeout = stage.Stall, stage.Stall
	m.payer.Register()
	card, err := adp.Offer{RedeemAt: "https://seller.example/redeem", Prices: map[string]uint64{"p.sold": 1}}.Sign(m.payee.Controller, 0, time.Now())
	stage.Must(t, err)
	body := m.payee.Registration("p.sold")
	body.Card = card
	if a := m.payee.Do(wire.ActionRegister, "/register", body); a.Status != http.StatusOK {
		t.Fatalf("the seller: %s", a)
	}
	for _, a := range []*stage.Agent{m.payer, m.payee} {
		for a.Balance(rounds.Limit) != grant {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return m
}

// Begin makes one payment after the other until End.
func (m *money) Begin(t *testing.T) {
	m.made = nil
	m.paying.Start(3*time.Millisecond, func() {
		p := m.next(t, len(m.made))
		m.made = append(m.made, p)
		p.told = m.bring(p)
	})
}

// End waits for the payment that is under way.
func (m *money) End(*testing.T) { m.paying.Stop() }

// next signs a payment, of each kind in turn.
func (m *money) next(t *testing.T, n int) *paid {
	network := payment.Network(m.hub.AID)
	to := m.payee.AID()
	if n%3 == 2 {
		to = m.hub.AID
	}
	signed, id, err := payment.SignAuthorization(m.payer.Controller, payment.Authorization{Payer: m.payer.AID(), PayTo: to, Amount: 1,
		Network: network, Nonce: rand.Text()}.Issued(time.Now()))
	if err != nil {
		t.Error(err)
	}
	option := payment.NewOption(network, to, 1, 10*time.Minute)
	pay := payment.NewPayload(option, signed)
	switch n % 3 {
	case 0:
		return m.posts("/x402/settle", payment.FacilitatorRequest{X402Version: 2, PaymentPayload: &pay, PaymentRequirements: &option}, false)
	case 2:
		return m.posts("/x402/redeem", wire.Redeem{X402Version: 2, PaymentPayload: &pay, Reference: id}, true)
	}
	return &paid{request: func() (*http.Request, error) {
		r, err := http.NewRequest(http.MethodGet, m.hub.URL+"/x402/resource/"+to+"/p.sold", nil)
		if err == nil {
			var header string
			header, err = payment.EncodeHeader(pay)
			r.Header.Set(payment.HeaderSignature, header)
		}
		return r, err
	}}
}

func (m *money) posts(path string, v any, burns bool) *paid {
	body, _ := json.Marshal(v) // it did before
	return &paid{burns: burns, request: func() (*http.Request, error) {
		return http.NewRequest(http.MethodPost, m.hub.URL+path, bytes.NewReader(body))
	}}
}

// bring brings a payment, and gives what is worth keeping of the answer.
func (m *money) bring(p *paid) string {
	r, err := p.request()
	if err != nil {
		return ""
	}
	resp, err := m.payer.HTTP.Do(r)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	var a struct {
		Voucher, Receipt string
		Extensions       map[string]json.RawMessage
	}
	if json.Unmarshal(raw, &a) != nil {
		return ""
	}
	return a.Voucher + a.Receipt + string(a.Extensions[payment.ExtReceipt])
}

// Check brings every payment again: each moved once, and whoever was told of it is
// told the same. Then the books hold.
func (m *money) Check(t *testing.T) {
	t.Helper()
	open := 0
	for i, p := range m.made {
		var now string
		stage.Until(t, rounds.Limit, "a payment is answered", func() bool { now = m.bring(p); return now != "" })
		if p.told == "" {
			open++
		}
		if p.told != "" && now != p.told {
			t.Errorf("payment %d: %.40q now, and %.40q before", i, now, p.told)
		}
		if p.burns {
			m.redeemed++
		}
	}
	m.payments += len(m.made)
	if from, to := m.payer.Balance(rounds.Limit), m.payee.Balance(rounds.Limit); from != uint64(grant-m.payments) || to != uint64(grant+m.payments-m.redeemed) {
		t.Errorf("after %d payments and %d redemptions of these: %d and %d credits", m.payments, m.redeemed, from, to)
	}
	out := m.hub.Operate(t, "credit", "audit", "--json")
	if !strings.Contains(out.Out, `"wrong": []`) {
		t.Errorf("the books: %v", out)
	}
	t.Logf("%d payments, %d of them without an answer", len(m.made), open)
}
