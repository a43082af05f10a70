package till

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Bounds of what is under way. A payment whose outcome stays open holds no place
// between two attempts: with a ledger that never answers it would keep all others out.
const (
	atOnce = 64     // attempts at the ledger at a time
	most   = 10_000 // payments and paid work that are seen to
)

// patience bounds one attempt at the ledger.
const patience = 30 * time.Second

// pace is that of bringing a payment whose outcome is not known again.
var pace = mailbox.Backoff{Base: time.Second, Cap: time.Minute}

// Run settles what was taken and has the work done, until ctx ends. What a run
// before left is taken up first.
func (t *Till) Run(ctx context.Context) error {
	if !Built || t.Ledger == nil {
		return nil
	}
	r := run{till: t, busy: map[string]bool{}, places: make(chan struct{}, atOnce)}
	defer r.wg.Wait()
	for ctx.Err() == nil {
		if err := r.start(ctx); err != nil {
			t.Log.Error("till: cannot read the journal", "error", err)
			pause(ctx, pace.Cap)
		}
		select {
		case <-ctx.Done():
		case <-t.poke:
		}
	}
	return nil
}

// run keeps which payments are under way.
type run struct {
	till   *Till
	places chan struct{}
	mu     sync.Mutex
	busy   map[string]bool
	wg     sync.WaitGroup
}

func (r *run) start(ctx context.Context) error {
	var due []journal.Due
	err := r.till.Journal.Read(ctx, func(tx *journal.Tx) error {
		owed, err := tx.Owed(most)
		if err != nil {
			return err
		}
		open, err := tx.Unsettled(most)
		due = append(owed, open...)
		return err
	})
	for _, d := range due {
		r.begin(ctx, d)
	}
	return err
}

func (r *run) begin(ctx context.Context, d journal.Due) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[d.Task] {
		return
	}
	r.busy[d.Task] = true
	r.wg.Go(func() {
		r.serve(ctx, d)
		r.mu.Lock()
		delete(r.busy, d.Task)
		r.mu.Unlock()
		if ctx.Err() == nil {
			r.till.Poke() // there may be more than are seen to at once
		}
	})
}

// serve brings a payment to its end, and the work it is for to its beginning.
func (r *run) serve(ctx context.Context, d journal.Due) {
	for n := 1; ctx.Err() == nil; n++ {
		done, err := r.attempt(ctx, d.Task)
		if err == nil && done {
			err = r.till.work(ctx, d.Task, d.Capability)
		}
		switch {
		case err == nil && done, ctx.Err() != nil:
			return
		case err != nil:
			r.till.Log.Error("till: cannot record a payment", "task", d.Task, "error", err)
		}
		pause(ctx, pace.Delay(n))
	}
}

// attempt takes a place to ask the ledger.
func (r *run) attempt(ctx context.Context, id string) (done bool, err error) {
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return false, nil
	}
	defer func() { <-r.places }()
	return r.till.settle(ctx, id)
}

// work has paid work done. One that was not settled has none.
func (t *Till) work(ctx context.Context, id, capID string) error {
	var paid bool
	err := t.Journal.Read(ctx, func(tx *journal.Tx) error {
		s, found, err := tx.Sale(id)
		paid = found && s.Paid()
		return err
	})
	if err != nil || !paid {
		return err
	}
	return t.Dispatch.RunPaid(ctx, id, capID)
}

// settle asks the ledger once; done when it has said what became of the payment.
func (t *Till) settle(ctx context.Context, id string) (done bool, err error) {
	var s journal.Sale
	var found bool
	err = t.Journal.Read(ctx, func(tx *journal.Tx) (err error) { s, found, err = tx.Sale(id); return err })
	if err != nil || !found || s.Paid() {
		return err == nil, err
	}
	answer, unknown := t.ask(ctx, s)
	if ctx.Err() != nil {
		return false, nil
	}
	err = t.Journal.Write(ctx, func(tx *journal.Tx) error { return t.record(tx, id, answer, unknown) })
	return unknown == nil, err
}

// ask brings the payment. The error is why its outcome is not known.
func (t *Till) ask(ctx context.Context, s journal.Sale) (answer payment.SettlementResponse, unknown error) {
	request, err := requestOf(s)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err = t.Ledger.Settle(ctx, request)
	if e := errs.As(err); e != nil && e.Kind == errs.Invalid && task.Reason(e.Reason).Known() {
		answer, err = payment.SettlementResponse{ErrorReason: e.Reason, Network: s.Network}, nil
	}
	answer.Transaction = cmp.Or(answer.Transaction, s.AuthID) // a request that is refused as such names none
	switch {
	case err != nil:
		return answer, err
	case answer.Success:
		return answer, t.holds(ctx, request, answer)
	case answer.ErrorReason == "" || answer.ErrorReason == payment.SettlementPending:
		return answer, errors.New("the ledger does not know the outcome yet")
	}
	return answer, nil
}

func requestOf(s journal.Sale) (payment.FacilitatorRequest, error) {
	r := payment.FacilitatorRequest{X402Version: payment.X402Version}
	if err := codec.UnmarshalJSON(s.Payload, &r.PaymentPayload); err != nil {
		return r, err
	}
	return r, codec.UnmarshalJSON(s.Wanted, &r.PaymentRequirements)
}

// holds checks the receipt of a settlement: without one that holds, this node
// could prove nothing of having been paid.
func (t *Till) holds(ctx context.Context, r payment.FacilitatorRequest, answer payment.SettlementResponse) error {
	auth, err := r.PaymentPayload.Authorization()
	if err != nil {
		return err
	}
	receipt, shown, err := answer.Receipt()
	if err != nil || !shown {
		return errors.Join(errors.New("the ledger shows no receipt"), err)
	}
	if !receipt.Settles(auth) {
		return errors.New("the ledger's receipt is for another payment")
	}
	if t.signed(ctx, receipt, false) == nil {
		return nil
	}
	return t.signed(ctx, receipt, true)
}

// signed checks the signature of the hub that the network names.
func (t *Till) signed(ctx context.Context, r payment.SignedReceipt, fresh bool) error {
	hub, _ := payment.HubOf(r.Network)
	kel, err := t.Ledger.KEL(ctx, hub, fresh)
	if err != nil {
		return err
	}
	h, err := identity.Replay(kel)
	if err != nil || h.AID() != hub {
		return errors.Join(errors.New("the ledger's key history is not its own"), err)
	}
	return r.Verify(h)
}

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

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
