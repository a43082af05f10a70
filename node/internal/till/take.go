package till

import (
	"encoding/json"
	"errors"

	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Take looks at a payment before the ledger is contacted. One that does not do is
// answered, where no quote is open only as long as may says so; any other is
// written down, and Run brings it to the ledger.
func (t *Till) Take(tx *journal.Tx, k *journal.Task, payload []byte, may func() bool) error {
	sale, given, err := tx.Sale(k.ID)
	if err != nil {
		return err
	}
	q, found, err := tx.Quote(k.ID)
	if err != nil {
		return err
	}
	open := found && !given && k.State == task.InputRequired
	got, no := t.offer(k, q, open).Check(payload, tx.Now())
	switch {
	case given && got.Legible() && got.Auth.ID() == sale.AuthID:
		return tx.PutTask(k) // the same once more
	case !open && !may():
		return tx.PutTask(k)
	case !found:
		return t.refuse(tx, k, nil, got.Refused(payment.NoPendingQuote))
	case !open:
		return t.refuse(tx, k, nil, got.Refused(reasonOf(no)))
	case no != nil:
		return t.refuse(tx, k, &q, got.Refused(reasonOf(no)))
	}
	// The ledger answers a payment that bought a voucher as it did then.
	if spent, _, err := tx.Bought(got.Auth.ID()); err != nil || spent {
		return errors.Join(err, t.refuse(tx, k, &q, got.Refused(payment.DuplicateNonce)))
	}
	return t.begin(tx, k, got)
}

func reasonOf(err error) string {
	if e := errs.As(err); e != nil {
		return e.Reason
	}
	return payment.MalformedPayment
}

// offer is what a payment for the task is held to. A quote that cannot be read
// has no options, so nothing is a payment for it.
func (t *Till) offer(k *journal.Task, q journal.Quote, open bool) payment.Offer {
	o := payment.Offer{Open: open, Expires: q.Exp, Self: t.AID, Payer: k.Peer}
	if doc, err := task.ParseTaskDoc(k.Doc); err == nil {
		o.Binding = payment.Binding(k.ID, doc.Nonce())
	}
	if required, err := payment.ParseRequired(q.Required); err == nil {
		o.Quote = required
	}
	return o
}

// begin writes a payment down. From here on no other is taken until the ledger
// has said what became of this one.
func (t *Till) begin(tx *journal.Tx, k *journal.Task, g payment.Given) error {
	request := g.Request()
	payload, err := codec.MarshalJSON(request.PaymentPayload)
	if err != nil {
		return err
	}
	wanted, err := codec.MarshalJSON(request.PaymentRequirements)
	if err != nil {
		return err
	}
	k.Reason, k.Effect = string(task.SettlementPending), ""
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return tx.PutSale(journal.Sale{
		Task: k.ID, Peer: k.Peer, Capability: k.Capability, AuthID: g.Auth.ID(), Amount: g.Auth.Amount,
		Network: g.Auth.Network, Wanted: wanted, Payload: payload,
	})
}

// maxRefused bounds the payments for one quote that come to nothing: each is
// answered, and the answers go with everything that is said of payment later.
const maxRefused = 16

// refuse tells that a payment came to nothing. With an open quote the task waits
// for another one; an expired quote ends it, and so do too many that failed.
func (t *Till) refuse(tx *journal.Tx, k *journal.Task, open *journal.Quote, answer payment.SettlementResponse) error {
	why := task.Reason(answer.ErrorReason)
	meta, last := map[string]any{task.KeyPaymentReceipts: []payment.SettlementResponse{answer}}, false
	if open != nil {
		var err error
		if last, err = note(tx, open, answer); err != nil {
			return err
		}
		meta = quoted(*open, payment.StatusFailed)
		meta[task.KeyPaymentReceipts] = json.RawMessage(open.Refused)
		k.Reason, k.Effect = string(why), string(effect.PaymentRequired)
	}
	meta[task.KeyPaymentStatus], meta[task.KeyReason] = payment.StatusFailed, why
	meta[task.KeyPaymentError] = payment.ErrorCode(answer.ErrorReason)
	if last || why == task.QuoteExpired && open != nil {
		return t.end(tx, k, why, meta)
	}
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return t.Dispatch.Tell(tx, k, k.State, why.Sentence(), meta)
}

// note keeps an answer; last when there are as many as may be.
func note(tx *journal.Tx, q *journal.Quote, answer payment.SettlementResponse) (last bool, err error) {
	raw, err := codec.MarshalJSON(answer)
	if err != nil {
		return false, err
	}
	if q.Refused, err = dispatch.Receipts(q.Refused, raw); err != nil {
		return false, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(q.Refused, &list); err != nil {
		return false, err
	}
	return len(list) >= maxRefused, tx.PutQuote(*q)
}

// Expire ends a task whose quote ran out before anybody paid.
func (t *Till) Expire(tx *journal.Tx, k *journal.Task) error {
	return t.end(tx, k, task.QuoteExpired, map[string]any{
		task.KeyPaymentStatus: payment.StatusFailed, task.KeyPaymentError: payment.ErrorCode(payment.QuoteExpired),
	})
}

// end refuses a task for which no payment is taken any more.
func (t *Till) end(tx *journal.Tx, k *journal.Task, why task.Reason, meta map[string]any) error {
	delete(meta, task.KeyPaymentRequired)
	k.Reason, k.Effect = string(why), string(effect.Unavailable)
	k.To(task.Rejected, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return t.Dispatch.Tell(tx, k, task.Rejected, why.Sentence(), meta)
}

// Declined ends a task whose requester does not want to pay. What was given for
// it before stays given.
func (t *Till) Declined(tx *journal.Tx, k *journal.Task) error {
	_, found, err := tx.Quote(k.ID)
	if err != nil {
		return err
	}
	held, err := Holds(tx, k.ID)
	if err != nil || held || !found {
		if err == nil {
			err = tx.PutTask(k)
		}
		return err
	}
	return t.Dispatch.Canceled(tx, k, "")
}
