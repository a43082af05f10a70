package till

import (
	"context"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
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

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
