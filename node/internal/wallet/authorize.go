package wallet

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Authorize signs for a quote that belongs to no task, such as one of a hub's
// gateway. Whoever has what was signed may bring it to the ledger, and it moves
// once; so it counts as spent until the ledger has said that it did not.
func (w *Wallet) Authorize(ctx context.Context, q payment.PaymentRequired, o Order) (p payment.PaymentPayload, s journal.Spend, err error) {
	if !till.Built {
		return p, s, errNotBuilt()
	}
	option, amount, err := w.outside(q)
	if err != nil {
		return p, s, err
	}
	err = w.Journal.Write(ctx, func(tx *journal.Tx) error {
		if o.Most > 0 && amount > o.Most {
			return over("it costs %d credits, more than the %d agreed to", amount, o.Most)
		}
		today, err := w.Today(tx, o.Tier)
		if err != nil {
			return err
		}
		if err := Decide(w.Limits(), Wish{o.Tier, option.PayTo, amount}, today); err != nil {
			return err
		}
		s, err = w.reserve(tx, option, amount, o.Tier, "", "")
		return err
	})
	return payment.NewPayload(option, s.Signed), s, err
}

func errNotBuilt() error {
	return errs.New(errs.Forbidden, "payments_not_built", "this program was built without payments")
}

// outside finds the way to pay a quote of a stranger.
func (w *Wallet) outside(q payment.PaymentRequired) (option payment.Requirements, amount uint64, err error) {
	option, amount, err = w.option(q)
	if err != nil {
		return option, 0, err
	}
	switch hub, _ := w.Ledger.Own(); {
	case option.PayTo == hub:
		return option, 0, errs.New(errs.Forbidden, "payee_is_the_hub", "the quote asks to pay the hub itself, which would take the credits out of circulation; for that: anet redeem")
	case !identity.ValidAID(option.PayTo):
		return option, 0, errs.New(errs.Forbidden, string(task.PayeeMismatch), "the quote asks to pay %.80q, which is no agent; nothing was signed", option.PayTo)
	}
	return option, amount, nil
}

// reserve signs an authorization and writes it down. One that is for no task
// stands under its own id.
func (w *Wallet) reserve(tx *journal.Tx, option payment.Requirements, amount uint64, tier Tier, id, binding string) (s journal.Spend, err error) {
	accepted, err := codec.MarshalJSON(option)
	if err != nil {
		return s, err
	}
	a := payment.Authorization{
		Payer: w.Signer().AID(), PayTo: option.PayTo, Amount: amount, Network: option.Network, Nonce: nonce(), Interaction: binding,
	}.Issued(tx.Now())
	signed, authID, err := payment.SignAuthorization(w.Signer(), a)
	if err != nil {
		return s, err
	}
	if id == "" {
		id = authID
	}
	s = journal.Spend{
		AuthID: authID, Task: id, Payee: a.PayTo, Amount: amount, Network: a.Network, Tier: string(tier),
		Accepted: accepted, Signed: signed, NotAfter: time.UnixMilli(int64(a.NotAfter)), State: journal.SpendOpen,
	}
	return s, tx.PutSpend(s)
}
