package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Ledger is the hub as far as it keeps credits.
type Ledger interface {
	till.Ledger
	wallet.Ledger
}

// Consent is what may be paid for a task, and on whose word. Without a tier it is
// a person's.
type Consent struct {
	Max  uint64 `json:"max,omitempty"` // credits; 0 for no bound but the limits
	Tier string `json:"tier,omitempty"`
}

func (c Consent) tier() (wallet.Tier, error) {
	t := wallet.Tier(cmp.Or(c.Tier, string(wallet.Explicit)))
	if !t.Known() {
		return t, invalid("tier_unknown", "tier", "%.40q is no tier; choose explicit, agent or auto", c.Tier)
	}
	return t, nil
}

// Pay pays the quote of a task that this node asked for.
func (n *Node) Pay(ctx context.Context, id string, c Consent) (Task, error) {
	tier, err := c.tier()
	if err != nil {
		return Task{}, err
	}
	return n.within(ctx, id, func(tx *journal.Tx, k *journal.Task) error {
		return n.Wallet.Pay(tx, k, wallet.Order{Tier: tier, Most: c.Max, Seen: tier == wallet.Explicit})
	})
}

// agree keeps what may be paid for a task until its quote has come.
func agree(tx *journal.Tx, id string, c *Consent) error {
	if c == nil {
		return nil
	}
	tier, err := c.tier()
	if err != nil {
		return err
	}
	return tx.PutConsent(id, journal.Consent{Tier: string(tier), Most: c.Max})
}

// sayOfPayment is the wallet's way to speak within a task.
func (n *Node) sayOfPayment(tx *journal.Tx, k *journal.Task, meta map[string]any) error {
	return n.say(tx, k, task.KindText, "", nil, meta)
}

// signedPrice is what the extended card of a provider says a capability costs, the
// one fetched last. A skill on it without a price is free.
func signedPrice(tx *journal.Tx, provider, capID string) (price uint64, known bool, err error) {
	kept, err := tx.ExtendedCards(provider)
	if err != nil || len(kept) == 0 {
		return 0, false, err
	}
	c, prices, err := readPrices(kept[0].Card)
	if err != nil {
		return 0, false, nil // none, or one of a later form: it bounds nothing
	}
	for _, skill := range c.Skills {
		if skill.ID == capID {
			return prices.Prices[capID], true, nil
		}
	}
	return 0, false, nil
}

// Payment is what a call costs and what became of paying it.
type Payment struct {
	// Status is required, submitted, paid or failed: as this node knows it by
	// itself, so a provider's word that it was paid is not enough.
	Status      string     `json:"status"`
	Amount      string     `json:"amount,omitempty"` // credits
	Network     string     `json:"network,omitempty"`
	Payee       string     `json:"payee,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"` // of the quote
	Transaction string     `json:"transaction,omitempty"`
	Reason      string     `json:"reason,omitempty"` // why the latest payment failed, or has no outcome
	Receipt     []byte     `json:"receipt,omitempty"`
	// Unverified are receipts that the provider showed and that do not hold.
	Unverified any `json:"unverified_receipts,omitempty"`
}

// The statuses of a payment.
const (
	PayRequired  = "required"
	PaySubmitted = "submitted"
	PayPaid      = "paid"
	PayFailed    = "failed"
)

// addPayment says what a call costs.
func (n *Node) addPayment(tx *journal.Tx, k journal.Task, t *Task) error {
	if k.Capability == "" {
		return nil
	}
	q, quoted, err := tx.Quote(k.ID)
	if err != nil {
		return err
	}
	p := Payment{Status: PayFailed}
	if quoted {
		p.quote(q, k, n.Wallet.Network())
	}
	found := false
	if k.Role == journal.Requester {
		found, err = p.spent(tx, k)
	} else {
		found, err = p.sold(tx, k)
	}
	if quoted || found {
		t.Payment = &p
	}
	return err
}

// quote shows the way of paying that this node would take. Only its price counts: a
// lower one beside it, on a ledger where this node has nothing, would be a lure.
func (p *Payment) quote(q journal.Quote, k journal.Task, own string) {
	p.Expires = &q.Exp
	if k.State == task.InputRequired {
		p.Status = PayRequired
	}
	required, err := payment.ParseRequired(q.Required)
	if err != nil {
		return
	}
	option, payable := required.On(own)
	if i := slices.IndexFunc(required.Accepts, inCredits); !payable && i >= 0 {
		option = required.Accepts[i]
	}
	p.Amount, p.Network, p.Payee = option.Amount, option.Network, option.PayTo
}

func inCredits(o payment.Requirements) bool {
	return o.Scheme == payment.Scheme && o.Asset == payment.Asset
}

// spent is what this node signed for the task, the latest.
func (p *Payment) spent(tx *journal.Tx, k journal.Task) (bool, error) {
	spends, err := tx.Spends(k.ID)
	if err != nil || len(spends) == 0 {
		return false, err
	}
	s := spends[0]
	for _, one := range spends {
		if one.State == journal.SpendPaid {
			s = one
		}
	}
	p.Transaction, p.Reason, p.Receipt = s.AuthID, s.Reason, s.Receipt
	if p.Amount == "" || s.State == journal.SpendOpen || s.State == journal.SpendPaid {
		p.Amount, p.Network, p.Payee = payment.FormatAmount(s.Amount), s.Network, s.Payee
	}
	if s.Unverified != nil && s.State != journal.SpendPaid {
		p.Unverified = asJSON(s.Unverified)
	}
	switch s.State {
	case journal.SpendOpen:
		p.Status = PaySubmitted
	case journal.SpendPaid:
		p.Status = PayPaid
	}
	return true, nil
}

// sold is what this node was given for the task.
func (p *Payment) sold(tx *journal.Tx, k journal.Task) (bool, error) {
	s, found, err := tx.Sale(k.ID)
	if err != nil || !found {
		return false, err
	}
	p.Amount, p.Network, p.Transaction, p.Reason = payment.FormatAmount(s.Amount), s.Network, s.AuthID, s.Error
	p.Status = PaySubmitted
	if !s.Paid() {
		return true, nil
	}
	p.Status = PayPaid
	if answer, err := payment.ParseSettlement(s.Settlement); err == nil {
		p.Receipt, _ = answer.ReceiptBytes() // it was read before it was stored
	}
	return true, nil
}
