package ledgertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// Books keep credits in memory, one movement after the other: what a ledger does,
// said in the shortest way. What it does not implement is not asked for.
type Books struct {
	ledger.Store
	mu sync.Mutex

	Registered  map[string][]byte // key histories
	Blocked     map[string]bool
	Left        map[string]bool // was registered, and is no more
	Sellers     map[string]ledger.Seller
	Balances    map[string]uint64
	Settled     map[string]ledger.Settlement
	Redeemed    map[string]ledger.Redemption
	Granted     map[string]bool
	Due         []string
	Chain       []ledger.Link
	Circulation ledger.Circulation
	Debtors     []ledger.Debt
	Taken       map[string]ledger.PeerPayment
	Seen        ledger.Witnesses
	ReadOnly    bool
	Away        error // what every question is answered with
}

// NewBooks are empty.
func NewBooks() *Books {
	return &Books{Registered: map[string][]byte{}, Blocked: map[string]bool{}, Left: map[string]bool{}, Sellers: map[string]ledger.Seller{},
		Balances: map[string]uint64{}, Settled: map[string]ledger.Settlement{}, Redeemed: map[string]ledger.Redemption{},
		Granted: map[string]bool{}, Taken: map[string]ledger.PeerPayment{}}
}

// Standing implements ledger.Store.
func (b *Books) Standing(_ context.Context, q ledger.Question) (st ledger.Standing, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.Settled[q.AuthID]; ok {
		st.Settled = &s
	}
	st.KEL, st.Left, st.Blocked = b.Registered[q.Payer], b.Left[q.Payer], b.Blocked[q.Payer]
	st.Balance, st.ReadOnly = b.Balances[q.Payer], b.ReadOnly
	st.Bound = b.bound(q.Payer, q.Interaction)
	_, st.PayTo = b.Balances[q.PayTo]
	st.Known = b.Registered[q.PayTo] != nil
	return st, b.Away
}

func (b *Books) bound(payer, interaction string) string {
	for id, s := range b.Settled {
		if interaction != "" && s.Payer == payer && s.Interaction == interaction {
			return id
		}
	}
	return ""
}

// take is what settlements and redemptions have in common.
func (b *Books) take(s ledger.Settlement) (before *ledger.Settlement, err error) {
	if s, ok := b.Settled[s.AuthID]; ok {
		return &s, nil
	}
	bound := b.bound(s.Payer, s.Interaction)
	switch {
	case b.Away != nil:
		return nil, b.Away
	case b.ReadOnly:
		return nil, ledger.ReadOnly()
	case bound != "":
		return nil, ledger.Bound(bound)
	case b.Balances[s.Payer] < s.Amount:
		return nil, ledger.Short()
	}
	b.Settled[s.AuthID] = s
	b.Balances[s.Payer] -= s.Amount
	return nil, nil
}

// Settle implements ledger.Store.
func (b *Books) Settle(_ context.Context, s ledger.Settlement) (ledger.Settlement, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, err := b.take(s)
	if err != nil || before != nil {
		if before != nil {
			s = *before
		}
		return s, false, err
	}
	b.Balances[s.PayTo] += s.Amount
	return s, true, nil
}

// Redeem implements ledger.Store.
func (b *Books) Redeem(_ context.Context, s ledger.Settlement, r ledger.Redemption, seal ledger.Seal) (ledger.Redemption, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, err := b.take(s)
	if err != nil {
		return r, false, err
	}
	if before != nil {
		return b.Redeemed[s.AuthID], false, nil
	}
	b.Redeemed[s.AuthID] = r
	return r, true, b.append(ledger.Issue{Kind: ledger.Retired, AID: s.Payer, Amount: s.Amount, Reason: ledger.ReasonRedeemed, At: s.At}, seal)
}

// Redemption implements ledger.Store.
func (b *Books) Redemption(_ context.Context, authID string) (ledger.Redemption, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Redeemed[authID], b.Away
}

func (b *Books) append(i ledger.Issue, seal ledger.Seal) error {
	sum, err := b.Circulation.Add([]ledger.Issue{i})
	if err != nil {
		return err
	}
	head := evidence.Head{}
	if n := len(b.Chain); n > 0 {
		last, err := evidence.ParseRecord(b.Chain[n-1].Record)
		if err != nil {
			return err
		}
		head = last.Head()
	}
	links, err := seal(head, []ledger.Issue{i})
	b.Circulation, b.Chain = sum, append(b.Chain, links...)
	return err
}

// GrantMember implements ledger.Store.
func (b *Books) GrantMember(_ context.Context, i ledger.Issue, _ audit.Act, seal ledger.Seal) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Registered[i.AID] == nil {
		return 0, errs.New(errs.NotFound, "agent_unknown", "nobody")
	}
	if err := b.append(i, seal); err != nil {
		return 0, err
	}
	b.Balances[i.AID] += i.Amount
	return b.Balances[i.AID], nil
}

// GrantsDue implements ledger.Store.
func (b *Books) GrantsDue(context.Context) (int64, bool, error) {
	return int64(len(b.Due)), b.ReadOnly, nil
}

// BookGrants implements ledger.Store.
func (b *Books) BookGrants(_ context.Context, amount uint64, n int, at time.Time, seal ledger.Seal) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	due := slices.Clone(b.Due[:min(n, len(b.Due))])
	b.Due = b.Due[len(due):]
	for _, aid := range due {
		if b.Granted[aid] || amount == 0 {
			continue
		}
		b.Granted[aid] = true
		if err := b.append(ledger.Issue{Kind: ledger.Issued, AID: aid, Amount: amount, Reason: ledger.ReasonRegistration, At: at}, seal); err != nil {
			return 0, err
		}
		b.Balances[aid] += amount
	}
	return len(due), nil
}

// Seller implements ledger.Store.
func (b *Books) Seller(_ context.Context, aid string, _ time.Time) (ledger.Seller, error) {
	s, ok := b.Sellers[aid]
	if !ok {
		return s, errs.New(errs.NotFound, "agent_unknown", "nobody")
	}
	return s, b.Away
}

// Account implements ledger.Owners.
func (b *Books) Account(_ context.Context, aid string) (ledger.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ledger.Account{Balance: b.Balances[aid]}, nil
}

// Debts implements ledger.Clearing.
func (b *Books) Debts(context.Context) ([]ledger.Debt, error) { return b.Debtors, b.Away }

// PaymentOf implements ledger.Clearing.
func (b *Books) PaymentOf(_ context.Context, authID string) (*ledger.PeerPayment, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.Taken[authID]; ok {
		return &p, nil
	}
	return nil, b.Away
}

// Credit implements ledger.Clearing.
func (b *Books) Credit(_ context.Context, p ledger.PeerPayment, seal ledger.Seal) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.Taken[p.AuthID]; ok {
		return nil
	}
	b.Taken[p.AuthID] = p
	b.Balances[p.PayTo] += p.Amount
	return b.append(ledger.Issue{Kind: ledger.Issued, AID: p.PayTo, Amount: p.Amount, Reason: ledger.ReasonFromPeer, At: p.At}, seal)
}

// Head implements ledger.Public.
func (b *Books) Head(context.Context) (uint64, string, error) {
	return uint64(len(b.Chain)), "", b.Away
}

// Witnesses implements ledger.Public.
func (b *Books) Witnesses(context.Context) (ledger.Witnesses, error) { return b.Seen, b.Away }
