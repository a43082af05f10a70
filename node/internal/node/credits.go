package node

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// Credits is what this node has, and what it may pay.
type Credits interface {
	// Limits are the bounds on what is paid, as they are configured, and what was
	// spent of them today.
	Limits(ctx context.Context) (Limits, error)
	// SetLimits changes the members that are set, and holds at once.
	SetLimits(ctx context.Context, c LimitChange) (Limits, error)
	// SetPayee puts an agent on the list of whom the node may pay by itself, or takes
	// it off. NotFound when it was not on it.
	SetPayee(ctx context.Context, aid string, listed bool) (Limits, error)
	// Balance asks the hub what is on this node's account.
	Balance(ctx context.Context) (Balance, error)
	// Account asks the hub what moved it; a limit of 0 is the hub's own.
	Account(ctx context.Context, limit int) (Account, error)
	// Authorize signs a payment for a quote that belongs to no task. Forbidden where a
	// limit of this node, or the quote itself, does not let it.
	Authorize(ctx context.Context, b Bill) (Authorization, error)
	// Redeem takes credits out of circulation, once for a reference that is named.
	Redeem(ctx context.Context, r Redemption) (Redemption, error)
}

// Limits are those of the configuration, and what was spent of them.
type Limits struct {
	config.Limits
	SpentToday      uint64 `json:"spent_today"`
	AgentSpentToday uint64 `json:"agent_spent_today"`
}

// LimitsOf are limits as they are shown.
func LimitsOf(l config.Limits) Limits {
	if l.Payees == nil {
		l.Payees = []string{}
	}
	return Limits{Limits: l}
}

// LimitChange sets limits; what is nil stays.
type LimitChange struct {
	AutoMax       *uint64 `json:"auto_max,omitempty"`
	AgentMax      *uint64 `json:"agent_max,omitempty"`
	AgentDailyMax *uint64 `json:"agent_daily_max,omitempty"`
	ExplicitMax   *uint64 `json:"explicit_max,omitempty"`
	DailyMax      *uint64 `json:"daily_max,omitempty"`
	PayeeList     *bool   `json:"payee_list,omitempty"`
}

// Of are limits after the change.
func (c LimitChange) Of(l config.Limits) config.Limits {
	for _, one := range []struct{ from, to *uint64 }{
		{c.AutoMax, &l.AutoMax}, {c.AgentMax, &l.AgentMax}, {c.AgentDailyMax, &l.AgentDailyMax},
		{c.ExplicitMax, &l.ExplicitMax}, {c.DailyMax, &l.DailyMax},
	} {
		if one.from != nil {
			*one.to = *one.from
		}
	}
	if c.PayeeList != nil {
		l.PayeeList = *c.PayeeList
	}
	return l
}

// Balance is what is on this node's account.
type Balance struct {
	AID     string `json:"aid"`
	Hub     string `json:"hub"`
	Credits uint64 `json:"credits"`
}

// Account is what moved it, the newest part of that, the oldest first.
type Account struct {
	AID       string         `json:"aid"`
	Entries   []AccountEntry `json:"entries"`
	Total     int64          `json:"total"` // entries there are
	Credits   uint64         `json:"credits"`
	Truncated bool           `json:"truncated"`
}

// AccountEntry is one movement.
type AccountEntry struct {
	At          time.Time `json:"at"`
	Delta       int64     `json:"delta"`
	Reason      string    `json:"reason"`
	Transaction string    `json:"transaction,omitempty"`
}

// Bill is an x402 quote from anywhere, and on whose word it may be paid.
type Bill struct {
	Quote   json.RawMessage `json:"quote"`
	Consent Consent         `json:"consent"`
}

// Authorization is a signed payment. Whoever is given it can have it settled, once,
// until it expires.
type Authorization struct {
	Transaction string          `json:"transaction"`
	Amount      string          `json:"amount"` // credits
	Payee       string          `json:"payee"`
	Network     string          `json:"network"`
	Expires     time.Time       `json:"expires"`
	Payment     json.RawMessage `json:"payment"` // as x402 has it
	Header      string          `json:"header"`  // the same, for PAYMENT-SIGNATURE
}

// Redemption is credits taken out of circulation; the hub's receipt was verified.
type Redemption struct {
	Amount      uint64    `json:"amount"`
	Reference   string    `json:"reference"`
	Transaction string    `json:"transaction,omitempty"`
	At          time.Time `json:"at,omitzero"`
	Receipt     []byte    `json:"receipt,omitempty"`
}

// Redeem signs the credits away to the hub, durably, before it is told.
func (n *Node) Redeem(ctx context.Context, r Redemption) (Redemption, error) {
	if n.Ledger == nil {
		return r, errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
	}
	done, err := n.Wallet.Redeem(ctx, r.Amount, r.Reference)
	return Redemption{Amount: done.Amount, Reference: done.Reference, Transaction: done.AuthID, At: done.Ended, Receipt: done.Receipt}, err
}

// Authorize signs durably, before anybody sees it.
func (n *Node) Authorize(ctx context.Context, b Bill) (a Authorization, err error) {
	tier, err := b.Consent.tier()
	if err != nil {
		return a, err
	}
	if n.Ledger == nil {
		return a, errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
	}
	q, err := payment.ParseRequired(b.Quote)
	if err != nil {
		return a, errs.New(errs.Invalid, "quote_malformed", "this is no x402 quote of version 2").In("quote").Because(err)
	}
	p, s, err := n.Wallet.Authorize(ctx, q, wallet.Order{Tier: tier, Most: b.Consent.Max})
	if err != nil {
		return a, err
	}
	a = Authorization{Transaction: s.AuthID, Amount: payment.FormatAmount(s.Amount), Payee: s.Payee, Network: s.Network, Expires: s.NotAfter}
	if a.Header, err = payment.EncodeHeader(p); err != nil {
		return a, err
	}
	a.Payment, err = codec.MarshalJSON(p)
	return a, err
}

// AddSpent says what was spent of the limits today.
func (n *Node) AddSpent(ctx context.Context, l *Limits) error {
	return n.Journal.Read(ctx, func(tx *journal.Tx) error {
		today, err := n.Wallet.Today(tx, wallet.Agent)
		l.SpentToday, l.AgentSpentToday = today.All, today.Tier
		return err
	})
}
