package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/anet-hub/anet/node/internal/inbound"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// VoucherOrder is what somebody brings who bought a call at the hub's gateway (wire
// 2, K.7).
type VoucherOrder struct {
	Voucher    []byte          `json:"voucher"`
	Capability string          `json:"capability"`
	Args       json.RawMessage `json:"args,omitempty"`
}

// Redeemed is what became of the call.
type Redeemed struct {
	Capability string           `json:"capability"`
	VoucherID  string           `json:"voucher_id"`
	Payer      string           `json:"payer"`
	Status     effect.Status    `json:"status"`
	Reason     task.Reason      `json:"reason,omitempty"`
	Verifiable bool             `json:"verifiable"`
	Metrics    json.RawMessage  `json:"metrics,omitempty"`
	Message    string           `json:"message,omitempty"`
	Evidence   *effect.Evidence `json:"evidence,omitempty"`
}

// TakeVoucher does the call that a voucher was sold for, once: the voucher is claimed
// on disk before the work. A Conflict says what came of one that was spent.
func (n *Node) TakeVoucher(ctx context.Context, o VoucherOrder) (Redeemed, error) {
	args, err := argsOf(o)
	if err != nil {
		return Redeemed{}, err
	}
	v, err := n.voucher(ctx, o)
	if err != nil {
		return Redeemed{}, err
	}
	release, err := n.admitVoucher(v, args)
	if err != nil {
		return Redeemed{}, err
	}
	defer release()
	return n.spend(ctx, v, o.Voucher, args)
}

func argsOf(o VoucherOrder) (json.RawMessage, error) {
	if o.Capability == "" {
		return nil, invalid("capability_missing", "capability", "say which capability the voucher is for")
	}
	doc, err := callDocument(o.Capability, o.Args)
	if err != nil {
		return nil, err
	}
	call, ok := doc.Call()
	if !ok {
		return nil, invalid("args_invalid", "args", "the arguments must be one JSON object without repeated names")
	}
	return call.Args, nil
}

// voucher reads a voucher and holds it to being one of this node's own hub, for
// this node and this call, and of now. One that was spent is told of after its time,
// too: who lost the answer may have been away for longer.
func (n *Node) voucher(ctx context.Context, o VoucherOrder) (v payment.SignedVoucher, err error) {
	if v, err = payment.ParseVoucher(o.Voucher); err != nil {
		return v, badVoucher("it cannot be read").Because(err)
	}
	if n.Ledger == nil {
		return v, errs.New(errs.Unavailable, "not_joined", "this node has no hub whose vouchers it could take")
	}
	hub, _ := n.Ledger.Own()
	switch {
	case v.Network != payment.Network(hub):
		return v, badVoucher("it is of another hub")
	case v.PayTo != n.Keys.AID():
		return v, badVoucher("it was sold for another agent")
	case v.Capability != o.Capability:
		return v, badVoucher("it was sold for another capability")
	case v.ArgsCID != "" && v.ArgsCID != codec.CID(o.Args):
		return v, badVoucher("it was sold for other arguments")
	}
	if err := n.signedVoucher(ctx, v, hub); err != nil {
		return v, err
	}
	late := n.timely(v)
	if late == nil {
		return v, nil
	}
	if err := n.unspent(ctx, v.AuthID); err != nil {
		return v, err
	}
	return v, late
}

// timely tells what is wrong with the clocks where the hub sold a voucher later than now.
func (n *Node) timely(v payment.SignedVoucher) error {
	const window = uint64(payment.VoucherWindow / time.Millisecond)
	now, sold := uint64(n.Now().UnixMilli()), max(v.NotAfter, window)-window
	switch {
	case payment.InWindow(sold, v.NotAfter, now):
		return nil
	case now < sold:
		return badVoucher("its time has not come; the clock of this node or that of its hub is wrong")
	}
	return badVoucher("its time is over")
}

func badVoucher(why string) *errs.Error {
	return errs.New(errs.PaymentRequired, "voucher_invalid", "the voucher does not do: %s", why)
}

// signedVoucher checks the hub's signature. The hub is asked for its history only where
// the signature names a later key than is known: anybody can bring a voucher.
func (n *Node) signedVoucher(ctx context.Context, v payment.SignedVoucher, hub string) error {
	_, kel := n.Ledger.Own()
	h, err := identity.Replay(kel)
	if err == nil && v.Env.Seq >= uint64(h.Len()) {
		if kel, err = n.Ledger.KEL(ctx, hub, true); err != nil {
			return errs.New(errs.Unavailable, "hub_keys_unknown", "the hub cannot be asked for the key that signed the voucher").After(voucherAgain).Because(err)
		}
		h, err = identity.Replay(kel)
	}
	if err != nil {
		return err
	}
	if err := v.Verify(h); err != nil {
		return badVoucher("the hub did not sign it").Because(err)
	}
	return nil
}

const voucherAgain = 5 * time.Second // when to bring one again that could not be judged

// admitVoucher holds the payer to the limits of any caller.
func (n *Node) admitVoucher(v payment.SignedVoucher, args json.RawMessage) (release func(), err error) {
	if n.denied(v.Payer) {
		return nil, errs.New(errs.Forbidden, string(task.Denied), "%s", task.Denied.Sentence())
	}
	release, r := n.admission.Admit(v.Capability, v.Payer, len(args), n.Now(), nil)
	if r == nil {
		return release, nil
	}
	return nil, refusalOf(*r)
}

func refusalOf(r inbound.Refusal) error {
	kind := errs.TooMany
	switch r.Reason {
	case task.CapabilityNotPublic:
		kind = errs.Forbidden
	case task.ArgsTooLarge:
		kind = errs.TooLarge
	}
	return errs.New(kind, string(r.Reason), "%s", r.Reason.Sentence()).After(r.RetryAfter)
}

// spend claims the voucher, does the work and keeps what came of it.
func (n *Node) spend(ctx context.Context, v payment.SignedVoucher, raw []byte, args json.RawMessage) (Redeemed, error) {
	ctx = context.WithoutCancel(ctx) // from here on it is owed
	if err := n.unspent(ctx, v.AuthID); err != nil {
		return Redeemed{}, err
	}
	plan, served := n.Dispatch.Sold(v.Capability)
	switch {
	case !served:
		return Redeemed{}, errs.New(errs.NotFound, string(task.CapabilityNotServed), "%s", task.CapabilityNotServed.Sentence())
	case !plan.Runs():
		return Redeemed{}, errs.New(errs.Unavailable, string(task.Unavailable), "%s", task.Unavailable.Sentence()).After(time.Second)
	}
	if err := n.claim(ctx, v.AuthID, raw); err != nil {
		plan.Drop()
		return Redeemed{}, err
	}
	defer n.redeeming.Delete(v.AuthID)
	out := n.Dispatch.Do(plan, provider.Call{Capability: v.Capability, Args: args, Caller: v.Payer, TaskID: v.ID()})
	if out.Status == effect.Unavailable {
		return Redeemed{}, n.release(ctx, v.AuthID, out)
	}
	done := Redeemed{
		Capability: v.Capability, VoucherID: v.ID(), Payer: v.Payer, Status: out.Status, Reason: out.Reason,
		Verifiable: out.Verifiable, Metrics: out.Metrics, Message: out.Message, Evidence: out.Evidence,
	}
	return done, n.keepOutcome(ctx, v.AuthID, done)
}

// release takes a claim back where the call was certainly not attempted: it was paid,
// so its voucher stays good.
func (n *Node) release(ctx context.Context, authID string, out provider.Outcome) error {
	if err := n.Journal.Write(ctx, func(tx *journal.Tx) error { return tx.ReleaseVoucher(authID) }); err != nil {
		return err
	}
	reason := cmp.Or(out.Reason, task.Unavailable)
	return errs.New(errs.Unavailable, string(reason), "%s", cmp.Or(out.Message, reason.Sentence())).After(max(out.RetryAfter, time.Second))
}

// unspent is nil for a voucher that may be claimed. Otherwise it tells what came of
// it the first time, which who lost that answer can have.
func (n *Node) unspent(ctx context.Context, authID string) error {
	spent, outcome, err := n.bought(ctx, authID)
	if err != nil || !spent {
		return err
	}
	if outcome == nil {
		if _, atWork := n.redeeming.Load(authID); atWork {
			return errInUse()
		}
		if _, outcome, err = n.bought(ctx, authID); err != nil { // it may have ended since
			return err
		}
	}
	e := errs.New(errs.Conflict, "voucher_spent", "the voucher was spent before")
	if outcome == nil {
		return e.With("result", map[string]any{"status": effect.Unverified, "reason": task.Interrupted})
	}
	return e.With("result", json.RawMessage(outcome))
}

func errInUse() error {
	return errs.New(errs.Conflict, "voucher_in_use", "the call that the voucher bought is at work; bring it again for the result").After(time.Second)
}

// claim marks a voucher as spent, on disk, and its call as at work.
func (n *Node) claim(ctx context.Context, authID string, raw []byte) error {
	if _, atWork := n.redeeming.LoadOrStore(authID, true); atWork {
		return errInUse()
	}
	var first bool
	err := n.Journal.Write(ctx, func(tx *journal.Tx) (err error) { first, err = tx.SpendVoucher(authID, raw); return err })
	if err == nil && first {
		return nil
	}
	n.redeeming.Delete(authID)
	if err == nil {
		err = n.unspent(ctx, authID)
	}
	return err
}

func (n *Node) bought(ctx context.Context, authID string) (spent bool, outcome []byte, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) (err error) { spent, outcome, err = tx.Bought(authID); return err })
	return spent, outcome, err
}

// keepOutcome writes what was done. A disk that does not take it costs the answer to
// a second copy of the voucher, and nothing else.
func (n *Node) keepOutcome(ctx context.Context, authID string, done Redeemed) error {
	raw, err := json.Marshal(done)
	if err != nil {
		return fmt.Errorf("write down what a voucher bought: %w", err)
	}
	err = n.Journal.Write(ctx, func(tx *journal.Tx) error { return tx.PutOutcome(authID, raw) })
	n.report("keep what a voucher bought", err)
	return nil
}
