package hubtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Ledger is the hub's: accounts, and payments that are settled once (wire 2,
// K.3). It can be slow to know what it did.
type Ledger struct {
	hub      *Hub
	key      *identity.Controller
	balances map[string]uint64
	settled  map[string]payment.SettlementResponse // by authorization
	bound    map[string]string                     // authorization by payer and binding
	asked    []payment.FacilitatorRequest

	pending  bool // answers that it does not know yet
	stalled  string
	loseNext int // settlements that take effect and whose answer is lost
	closed   bool
	forge    func(*payment.Receipt)
	signer   *identity.Controller // of receipts, nil for its own key
}

// Ledger opens the hub's ledger; accounts begin empty.
func (h *Hub) Ledger() *Ledger {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ledger == nil {
		key, err := identity.NewController(rand.Reader, time.Now().Add(-time.Hour))
		if err != nil {
			panic(err)
		}
		h.ledger = &Ledger{
			hub: h, key: key, balances: map[string]uint64{},
			settled: map[string]payment.SettlementResponse{}, bound: map[string]string{},
		}
	}
	return h.ledger
}

// Network is the ledger's name.
func (l *Ledger) Network() string { return payment.Network(l.key.AID()) }

// Grant puts credits on an account.
func (l *Ledger) Grant(aid string, n uint64) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.balances[aid] += n
}

// Balance tells what is on an account.
func (l *Ledger) Balance(aid string) uint64 {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.balances[aid]
}

// Asked tells every settlement that was asked for.
func (l *Ledger) Asked() []payment.FacilitatorRequest {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return slices.Clone(l.asked)
}

// Pending makes it answer that it does not know the outcome, having done nothing.
func (l *Ledger) Pending(on bool) { l.hub.mu.Lock(); l.pending = on; l.hub.mu.Unlock() }

// Stall is Pending for the payments of one agent.
func (l *Ledger) Stall(payer string) { l.hub.mu.Lock(); l.stalled = payer; l.hub.mu.Unlock() }

// LoseAnswers lets the next n settlements take effect without an answer.
func (l *Ledger) LoseAnswers(n int) { l.hub.mu.Lock(); l.loseNext = n; l.hub.mu.Unlock() }

// Close makes it a hub without a ledger.
func (l *Ledger) Close() { l.hub.mu.Lock(); l.closed = true; l.hub.mu.Unlock() }

// Forge changes the receipts that it signs from now on.
func (l *Ledger) Forge(f func(*payment.Receipt)) { l.hub.mu.Lock(); l.forge = f; l.hub.mu.Unlock() }

// SignReceiptsBy has somebody else sign them.
func (l *Ledger) SignReceiptsBy(c *identity.Controller) {
	l.hub.mu.Lock()
	l.signer = c
	l.hub.mu.Unlock()
}

// Purse is what one node sees of the ledger, over its line.
type Purse struct {
	*Ledger
	line *Line
}

// Purse connects a node.
func (l *Line) Purse() Purse { return Purse{l.hub.Ledger(), l} }

// Networks are none where the ledger was closed.
func (p Purse) Networks() []string {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if p.closed {
		return nil
	}
	return []string{p.Network()}
}

// Own is the hub and its key history, as the node knows it.
func (p Purse) Own() (string, []byte) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if p.line.pinned == nil {
		p.line.pinned = p.key.KEL()
	}
	return p.key.AID(), p.line.pinned
}

// KEL answers for the hub itself, and has the node know what is fresh.
func (p Purse) KEL(_ context.Context, hub string, fresh bool) ([]byte, error) {
	own, known := p.Own()
	if hub != own {
		return nil, errs.New(errs.NotFound, "agent_unknown", "no such hub")
	}
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if fresh {
		if err := p.line.enter("kel"); err != nil {
			return nil, err
		}
		p.line.pinned = p.key.KEL()
		known = p.line.pinned
	}
	return known, nil
}

// Rotate moves the hub to its next key.
func (l *Ledger) Rotate() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	next, err := l.key.Rotate(rand.Reader, time.Now())
	if err != nil {
		panic(err)
	}
	l.key = next
}

// Voucher signs what the gateway sells; edit may spoil it first.
func (l *Ledger) Voucher(payer, payTo, capID string, edit func(*payment.Voucher)) []byte {
	v := payment.Voucher{
		AuthID: rand.Text(), Payer: payer, PayTo: payTo, Capability: capID, Amount: 5, Network: l.Network(),
		NotAfter: uint64(time.Now().Add(payment.VoucherWindow).UnixMilli()), Nonce: rand.Text(),
	}
	if edit != nil {
		edit(&v)
	}
	signed, _, err := payment.SignVoucher(l.key, v)
	if err != nil {
		panic(err)
	}
	return signed
}

// Verify judges and moves nothing.
func (p Purse) Verify(_ context.Context, r payment.FacilitatorRequest) (payment.VerifyResponse, error) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if err := p.line.enter("verify"); err != nil {
		return payment.VerifyResponse{}, err
	}
	a, reason := p.judge(r)
	if _, done := p.settled[a.ID()]; reason == "" && done {
		reason = payment.DuplicateNonce
	}
	if reason == "" {
		reason = p.open(a)
	}
	return payment.VerifyResponse{IsValid: reason == "", InvalidReason: reason, Payer: a.Payer}, nil
}

// Settle moves a payment once.
func (p Purse) Settle(_ context.Context, r payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if err := p.line.enter("settle"); err != nil {
		return payment.SettlementResponse{}, err
	}
	p.asked = append(p.asked, r)
	answer := p.settle(r)
	if p.loseNext > 0 && answer.Success {
		p.loseNext--
		return payment.SettlementResponse{}, errs.New(errs.Unavailable, "connection_lost", "the answer was lost")
	}
	return answer, nil
}

func (p Purse) settle(r payment.FacilitatorRequest) payment.SettlementResponse {
	a, reason := p.judge(r)
	if done, ok := p.settled[a.ID()]; ok {
		return done
	}
	if p.pending || a.Payer == p.stalled {
		reason = payment.SettlementPending
	}
	if reason == "" {
		reason = p.open(a)
	}
	out := payment.SettlementResponse{ErrorReason: reason, Payer: a.Payer, Transaction: a.ID(), Network: a.Network, Amount: payment.FormatAmount(a.Amount)}
	if reason != "" {
		return out
	}
	p.balances[a.Payer] -= a.Amount
	p.balances[a.PayTo] += a.Amount
	p.bound[a.Payer+a.Interaction] = a.ID()
	out.Success, out.Extensions = true, payment.Extensions{payment.ExtReceipt: p.receipt(a)}
	p.settled[a.ID()] = out
	return out
}

func (p Purse) receipt(a payment.SignedAuthorization) json.RawMessage {
	r := payment.Receipt{AuthID: a.ID(), Payer: a.Payer, PayTo: a.PayTo, Amount: a.Amount, Network: a.Network, SettleAt: uint64(time.Now().UnixMilli())}
	if p.forge != nil {
		p.forge(&r)
	}
	signed, _, err := payment.SignReceipt(cmp.Or(p.signer, p.key), r)
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(codec.EncodeB64(signed))
	if err != nil {
		panic(err)
	}
	return raw
}

// Redeem burns credits, once for an authorization.
func (p Purse) Redeem(_ context.Context, r wire.Redeem) (out wire.Redemption, err error) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if err := p.line.enter("redeem"); err != nil {
		return out, err
	}
	a, err := r.PaymentPayload.Authorization()
	if err != nil {
		return out, errs.New(errs.Invalid, payment.MalformedPayment, "no authorization")
	}
	out = wire.Redemption{AuthID: a.ID(), AID: a.Payer, Amount: a.Amount, Reference: r.Reference}
	done, ok := p.settled[a.ID()]
	if reason := p.open(a); !ok && reason != "" {
		return out, errs.New(errs.Invalid, reason, "refused")
	}
	if !ok {
		p.balances[a.Payer] -= a.Amount
		p.bound[a.Payer+a.Interaction] = a.ID()
		done = payment.SettlementResponse{Success: true, Extensions: payment.Extensions{payment.ExtReceipt: p.receipt(a)}}
		p.settled[a.ID()] = done
	}
	if out.Receipt, err = done.ReceiptBytes(); err == nil && p.loseNext > 0 {
		p.loseNext--
		err = errs.New(errs.Unavailable, "connection_lost", "the answer was lost")
	}
	return out, err
}

// judge is what does not change with time.
func (p Purse) judge(r payment.FacilitatorRequest) (a payment.SignedAuthorization, reason string) {
	a, err := r.PaymentPayload.Authorization()
	wanted := r.PaymentRequirements
	payer, registered := p.hub.keys[a.Payer]
	switch {
	case wanted.PayTo == p.key.AID():
		return a, payment.PayeeMismatch
	case err != nil:
		return a, payment.MalformedPayment
	case a.Network != p.Network():
		return a, payment.NetworkMismatch
	case !registered:
		return a, payment.UnknownPayer
	case a.PayTo != wanted.PayTo:
		return a, payment.PayeeMismatch
	}
	h, err := identity.Replay(payer.kel)
	if err != nil || a.Verify(h) != nil {
		return a, payment.InvalidSignature
	}
	return a, ""
}

func (p Purse) open(a payment.SignedAuthorization) string {
	switch {
	case !payment.InWindow(a.IssuedAt, a.NotAfter, uint64(time.Now().UnixMilli())):
		return payment.ExpiredPayment
	case a.Interaction != "" && p.bound[a.Payer+a.Interaction] != "":
		return payment.DuplicateBinding
	case p.balances[a.Payer] < a.Amount:
		return payment.InsufficientFunds
	}
	return ""
}
