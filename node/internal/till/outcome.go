package till

import (
	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// record writes down what the ledger said, and tells the requester.
func (t *Till) record(tx *journal.Tx, id string, answer payment.SettlementResponse, unknown error) error {
	s, found, err := tx.Sale(id)
	if err != nil || !found || s.Paid() {
		return err
	}
	k, found, err := tx.Task(id)
	switch {
	case err != nil:
		return err
	case unknown != nil:
		return t.wait(tx, &k, found, s, unknown)
	case answer.Success:
		return t.settled(tx, &k, found, s, answer)
	}
	return t.failed(tx, &k, found, answer, id)
}

// wait notes why nothing is known yet. The requester is told the first time.
func (t *Till) wait(tx *journal.Tx, k *journal.Task, held bool, s journal.Sale, unknown error) error {
	s.Attempts++
	s.Error = unknown.Error()
	if err := tx.PutSale(s); err != nil || !held || s.Attempts > 1 {
		return err
	}
	t.Log.Warn("till: the outcome of a payment is not known", "task", s.Task, "error", unknown)
	return t.Dispatch.Tell(tx, k, task.Working, task.SettlementPending.Sentence(),
		map[string]any{task.KeyPaymentStatus: payment.StatusSubmitted})
}

// settled takes the money in and owes the work.
func (t *Till) settled(tx *journal.Tx, k *journal.Task, held bool, s journal.Sale, answer payment.SettlementResponse) (err error) {
	if s.Settlement, err = codec.MarshalJSON(answer); err != nil {
		return err
	}
	s.Settled, s.Error = tx.Now(), ""
	if err := tx.PutSale(s); err != nil || !held || k.State.Terminal() {
		return err
	}
	k.Reason, k.Effect = "", ""
	k.To(task.Working, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	q, _, err := tx.Quote(s.Task)
	if err != nil {
		return err
	}
	all, err := dispatch.Receipts(q.Refused, s.Settlement)
	if err != nil {
		return err
	}
	return t.Dispatch.Tell(tx, k, task.Working, "", map[string]any{
		task.KeyPaymentStatus: payment.StatusVerified, task.KeyPaymentReceipts: all,
	})
}

// failed lets another payment be made, unless its requester wants the task no
// more.
func (t *Till) failed(tx *journal.Tx, k *journal.Task, held bool, answer payment.SettlementResponse, id string) error {
	if err := tx.DropSale(id); err != nil || !held || k.State.Terminal() {
		return err
	}
	if k.CancelRequested {
		return t.Dispatch.Canceled(tx, k, "")
	}
	q, found, err := tx.Quote(id)
	if err != nil || !found {
		return err
	}
	return t.refuse(tx, k, &q, answer)
}
