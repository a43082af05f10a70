package dispatch

import (
	"context"
	"encoding/json"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Price is what a call of the id costs, and what its provider says of it; false
// when it is free or nobody answers it.
func (d *Dispatch) Price(capID string) (credits uint64, description string, priced bool) {
	p, found := d.providers.Resolve(capID)
	if !found {
		return 0, "", false
	}
	credits, priced = provider.PriceOf(p, capID)
	return credits, p.Describe(capID).Description, priced
}

// RunPaid does the work of a task that was paid for. It waits for a place where a
// call that is free is told to come back: the price was taken, so the work is
// owed. What cannot be done has failed, with the receipts (K.6).
func (d *Dispatch) RunPaid(ctx context.Context, id, capID string) error {
	p, found := d.providers.Resolve(capID)
	if !found {
		return d.journal.Write(ctx, func(tx *journal.Tx) error {
			k, err := tx.NeedTask(id)
			if err != nil || k.State.Terminal() {
				return err
			}
			return d.Answer(tx, &k, provider.Unavailable(task.CapabilityNotServed, "nothing here answers "+capID))
		})
	}
	plan := d.planFor(p, capID)
	select {
	case plan.slot <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	k, files, err := d.beginPaid(ctx, id)
	if err != nil || k.ID == "" {
		plan.Drop()
		return err
	}
	d.Run(k, files, plan, func(bool) {})
	return nil
}

// Sold plans a call that was paid elsewhere, at the hub's gateway; false when nobody
// answers the id. Where there is no place it runs nothing, and may be tried again.
func (d *Dispatch) Sold(capID string) (Plan, bool) {
	p, found := d.providers.Resolve(capID)
	if !found {
		return Plan{}, false
	}
	plan := d.planFor(p, capID)
	select {
	case plan.slot <- struct{}{}:
		return plan, true
	default:
		return Plan{}, true
	}
}

// Do runs a planned call that is no task, and says what it did. Only the end of the
// node cuts it off: it was paid for, whoever still waits for it.
func (d *Dispatch) Do(p Plan, call provider.Call) provider.Outcome {
	defer p.Drop()
	return d.invoke(d.base, journal.Task{ID: call.TaskID, Peer: call.Caller, Capability: call.Capability, Args: call.Args}, nil, p)
}

// beginPaid marks the work as started; without an id when it was, or has ended.
func (d *Dispatch) beginPaid(ctx context.Context, id string) (begun journal.Task, files []task.Attachment, err error) {
	err = d.journal.Write(ctx, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil || k.State.Terminal() || k.Started {
			return err
		}
		if files, err = tx.Attached(id); err != nil {
			return err
		}
		if err := d.Begin(tx, &k); err != nil {
			return err
		}
		begun = k
		return nil
	})
	return begun, files, err
}

// bill is the payment of a task, nil parts for one that was not paid.
type bill struct {
	sale     *journal.Sale
	receipts json.RawMessage
}

func (b bill) paid() bool { return b.sale != nil }

func billOf(tx *journal.Tx, id string) (bill, error) {
	s, found, err := tx.Sale(id)
	if err != nil || !found || !s.Paid() {
		return bill{}, err
	}
	q, _, err := tx.Quote(id)
	if err != nil {
		return bill{}, err
	}
	receipts, err := Receipts(q.Refused, s.Settlement)
	return bill{&s, receipts}, err
}

// Receipts joins the answers to payments that failed and the one that did not:
// all of them go with what is said of a payment (K.6).
func Receipts(refused, settlement []byte) (json.RawMessage, error) {
	var all []json.RawMessage
	if len(refused) > 0 {
		if err := json.Unmarshal(refused, &all); err != nil {
			return nil, err
		}
	}
	if len(settlement) > 0 {
		all = append(all, settlement)
	}
	return codec.MarshalJSON(all)
}

// addTo says in the deliverable what was paid for it: the receipt of the work
// then covers it, too.
func (b bill) addTo(v *effect.Deliverable) {
	if !b.paid() {
		return
	}
	v.Paid = &effect.Paid{Transaction: b.sale.AuthID, Amount: payment.FormatAmount(b.sale.Amount), Network: b.sale.Network}
	settled, err := payment.ParseSettlement(b.sale.Settlement)
	if err != nil {
		return
	}
	if receipt, err := settled.ReceiptBytes(); err == nil {
		v.Paid.Receipt = codec.EncodeB64(receipt)
	}
}

// tell adds the payment to the metadata of a result.
func (b bill) tell(meta map[string]any) {
	if b.paid() {
		meta[task.KeyPaymentStatus], meta[task.KeyPaymentReceipts] = payment.StatusCompleted, b.receipts
	}
}
