// Package dispatch runs admitted calls and turns what they did into results
// with receipts (wire 2, section G).
//
// The one rule: a call is marked as started before its provider is asked, and
// its result, its receipt and the message that carries them are written in one
// transaction. So no kill of the node runs a call twice: one that was started
// and has no result is answered as interrupted, its effect unknown.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// Resolver finds the provider of an id; provider.Registry is one.
type Resolver interface {
	Resolve(capID string) (provider.Provider, bool)
}

// Poster puts a message into the outbox; outbox.Outbox is one.
type Poster interface {
	Post(tx *journal.Tx, d outbox.Draft) error
}

// Dispatch runs calls.
type Dispatch struct {
	journal   *journal.Journal
	providers Resolver
	outbox    Poster
	signer    func() *identity.Controller
	log       *slog.Logger

	long, short chan struct{} // a token each

	base context.Context // of every call, so that stopping ends them
	end  context.CancelCauseFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by task
}

// New makes a dispatcher; Stop ends what it started.
func New(j *journal.Journal, r Resolver, p Poster, signer func() *identity.Controller, log *slog.Logger) *Dispatch {
	base, end := context.WithCancelCause(context.Background())
	return &Dispatch{
		journal: j, providers: r, outbox: p, signer: signer, log: log,
		long: make(chan struct{}, longSlots), short: make(chan struct{}, shortSlots),
		base: base, end: end, running: map[string]context.CancelCauseFunc{},
	}
}

// Why a call's context may end before its limit.
var (
	errStopping = errors.New("the node stops")
	errCanceled = errors.New("the requester cancelled")
)

// Begin marks the task as started, in the transaction that accepts it.
func (d *Dispatch) Begin(tx *journal.Tx, k *journal.Task) error {
	k.Started = true
	k.To(task.Working, tx.Now())
	return tx.PutTask(k)
}

// Run carries the plan out in the background. done is called once, with whether
// the result is on disk; when it is not, the next start answers instead.
func (d *Dispatch) Run(k journal.Task, files []task.Attachment, p Plan, done func(recorded bool)) {
	ctx, cancel := context.WithCancelCause(d.base)
	d.mu.Lock()
	d.running[k.ID] = cancel
	d.mu.Unlock()
	d.wg.Go(func() {
		defer p.Drop()
		if p.Long() {
			defer d.reportWork(k.ID)()
		}
		out := d.invoke(ctx, k, files, p)
		d.mu.Lock()
		delete(d.running, k.ID)
		d.mu.Unlock()
		cancel(nil)
		done(d.record(k.ID, out))
	})
}

// workSilence is how long a long call works before its requester is told. Most
// calls that may take long do not, and their result is then the first message.
const workSilence = time.Second

// reportWork reports a call as working unless it is over before. What it
// returns ends the wait.
func (d *Dispatch) reportWork(id string) (over func()) {
	done := make(chan struct{})
	d.wg.Go(func() {
		t := time.NewTimer(workSilence)
		defer t.Stop()
		select {
		case <-done:
			return
		case <-t.C:
		}
		err := d.journal.Write(context.Background(), func(tx *journal.Tx) error {
			k, err := tx.NeedTask(id)
			if err != nil || k.State.Terminal() {
				return err
			}
			return d.Tell(tx, &k, task.Working, "", nil)
		})
		if err != nil {
			d.log.Error("dispatch: cannot report a call as working", "task", id, "error", err)
		}
	})
	return func() { close(done) }
}

func (d *Dispatch) invoke(ctx context.Context, k journal.Task, files []task.Attachment, p Plan) (out provider.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("dispatch: a provider panicked", "provider", p.provider.ID(), "panic", v)
			out = provider.Unverified(task.BackendFailed, "the provider failed")
		}
	}()
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	out = p.provider.Invoke(limited, provider.Call{
		Capability: k.Capability, Args: k.Args, Caller: k.Peer, TaskID: k.ID, Files: files,
	})
	if stopped := context.Cause(ctx); stopped != nil && out.Status == effect.Unverified {
		// The provider can only say that its call was cut off, not by whom.
		out.Reason, out.Message = task.Interrupted, stopped.Error()
	}
	return out
}

// recordPause is the pace while the journal cannot be written. A result that
// was produced must not be lost to a disk that is full for a while.
const recordPause = 5 * time.Second

func (d *Dispatch) record(id string, out provider.Outcome) bool {
	for {
		err := d.journal.Write(context.Background(), func(tx *journal.Tx) error { return d.finish(tx, id, out) })
		if err == nil {
			return true
		}
		d.log.Error("dispatch: cannot record a result", "task", id, "error", err)
		select {
		case <-d.base.Done():
			return false
		case <-time.After(recordPause):
		}
	}
}

func (d *Dispatch) finish(tx *journal.Tx, id string, out provider.Outcome) error {
	k, err := tx.NeedTask(id)
	if err != nil || k.State.Terminal() {
		return err
	}
	bill, err := billOf(tx, id)
	switch {
	case err != nil:
		return err
	case k.CancelRequested && out.Status != effect.OK && !bill.paid():
		return d.Canceled(tx, &k, "")
	}
	return d.Answer(tx, &k, out)
}

// Cancel ends a running call, if possible; false when none is running.
func (d *Dispatch) Cancel(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	cancel, found := d.running[id]
	if found {
		cancel(errCanceled)
	}
	return found
}

// Running counts the calls at work.
func (d *Dispatch) Running() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.running)
}

// Stop gives calls at work until ctx ends, then cuts them off, and returns when
// what they did is on disk.
func (d *Dispatch) Stop(ctx context.Context) {
	ended := make(chan struct{})
	go func() { d.wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	d.end(errStopping)
	<-ended
}

// Recover answers the calls that were at work when the node last ended. Nothing
// may be received before (L.7).
func (d *Dispatch) Recover(ctx context.Context) (n int, err error) {
	err = d.journal.Write(ctx, func(tx *journal.Tx) error {
		started, err := tx.Started()
		if err != nil {
			return err
		}
		for _, k := range started {
			out := provider.Unverified(task.Interrupted, "the node ended while the call was at work")
			if err := d.Answer(tx, &k, out); err != nil {
				return fmt.Errorf("task %s: %w", k.ID, err)
			}
		}
		n = len(started)
		return nil
	})
	return n, err
}
