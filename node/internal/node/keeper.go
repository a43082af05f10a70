package node

import (
	"context"
	"encoding/hex"
	"runtime/debug"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/task"
)

// What happens by time alone.
const (
	firstTurn    = time.Minute        // a text task is reported as seen after this (L.9)
	publicStay   = 7 * 24 * time.Hour // a public call is deleted so long after its end (L.10)
	purgeEvery   = time.Hour
	purgeAtStart = time.Minute
	keepPause    = 15 * time.Second // between two looks, and before memory is given back
)

// Keep does what is due by time until ctx ends. It sleeps until then: an idle
// node does nothing at all.
func (n *Node) Keep(ctx context.Context) error {
	purge := n.Now().Add(purgeAtStart)
	for busy := true; ; { // with starting
		changed := n.Journal.Changed()
		n.report("look after the tasks", n.tend(ctx))
		n.report("ask what became of payments", n.Wallet.Resolve(ctx))
		if !n.Now().Before(purge) {
			n.report("delete what is over", n.purge(ctx))
			purge = n.Now().Add(purgeEvery)
		}
		wait, err := n.untilDue(ctx, purge)
		n.report("look after the tasks", err)
		if busy {
			wait = min(wait, keepPause)
		}
		switch woken := n.rest(ctx, wait, changed); {
		case ctx.Err() != nil:
			return nil
		case woken:
			busy = true
		case busy && n.Dispatch.Running() == 0:
			// A node is idle for most of its life, and would keep what work needed.
			debug.FreeOSMemory()
			busy = false
		}
	}
}

// rest waits for the time or for a change, and after a change for what usually
// follows it. It tells which it was.
func (n *Node) rest(ctx context.Context, d time.Duration, changed <-chan struct{}) (woken bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return false
	case <-ctx.Done():
		return false
	case <-changed:
	}
	t.Reset(keepPause)
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return true
}

// untilDue is the time until a task wants attention, or until then. What is due
// and was not settled waits for something else, and is looked at again soon.
func (n *Node) untilDue(ctx context.Context, then time.Time) (time.Duration, error) {
	var next time.Time
	var found bool
	err := n.Journal.Read(ctx, func(tx *journal.Tx) (err error) {
		next, found, err = tx.NextTending(n.patience(), firstTurn, n.Wallet.Network())
		return err
	})
	if !found || next.After(then) {
		next = then
	}
	d := next.Sub(n.Now())
	if d <= 0 || err != nil {
		d = keepPause
	}
	return d, err
}

func (n *Node) report(what string, err error) {
	if err != nil {
		n.Log.Error("node: cannot "+what, "error", err)
	}
}

// tend gives up on silent providers and tells waiting requesters that their
// task was seen. It writes only when there is something to do.
func (n *Node) tend(ctx context.Context) error {
	var silent, unread, overdue []journal.Task
	err := n.Journal.Read(ctx, func(tx *journal.Tx) (err error) {
		if silent, err = tx.Silent(tx.Now().Add(-n.patience())); err != nil {
			return err
		}
		if overdue, err = tx.Overdue(); err != nil {
			return err
		}
		unread, err = tx.Unread(tx.Now().Add(-firstTurn))
		return err
	})
	if err != nil || len(silent)+len(unread)+len(overdue) == 0 {
		return err
	}
	return n.Journal.Write(ctx, func(tx *journal.Tx) error {
		if err := each(tx, silent, n.giveUp); err != nil {
			return err
		}
		if err := each(tx, overdue, n.Till.Expire); err != nil {
			return err
		}
		return each(tx, unread, n.Dispatch.Working)
	})
}

// patience is how long a provider may say nothing. Without a limit it is as long
// as the request lives: nobody can have it after that.
func (n *Node) patience() time.Duration {
	if n.NoResponseAfter > 0 {
		return n.NoResponseAfter
	}
	return envelope.Lifetime
}

// each applies f to tasks that are still as they were when they were picked.
func each(tx *journal.Tx, picked []journal.Task, f func(*journal.Tx, *journal.Task) error) error {
	for _, p := range picked {
		k, found, err := tx.Task(p.ID)
		if err != nil {
			return err
		}
		if !found || k.State != p.State || k.Heard != p.Heard {
			continue
		}
		if err := f(tx, &k); err != nil {
			return err
		}
	}
	return nil
}

// giveUp fails a task of whose provider nothing was heard. Whether it acted is
// unknown, and a later result is recorded without reopening the task.
func (n *Node) giveUp(tx *journal.Tx, k *journal.Task) error {
	why := task.NoResponse
	if tx.Now().Sub(k.Sent) >= envelope.Lifetime {
		why = task.Undeliverable
	}
	return n.fail(tx, k, why, effect.Unverified)
}

func (n *Node) fail(tx *journal.Tx, k *journal.Task, why task.Reason, did effect.Status) error {
	k.Reason = string(why)
	if k.Capability != "" {
		k.Effect = string(did)
	}
	k.To(task.Failed, tx.Now())
	return tx.PutTask(k)
}

// lost decides what follows when a message cannot be delivered (L.7). A request,
// or the words a task waits for, cannot come again, so the task has failed;
// nothing was attempted only if no attempt can have arrived.
func (n *Node) lost(tx *journal.Tx, o journal.Outgoing, why string) error {
	k, found, err := tx.Task(o.Task)
	if err != nil || !found || k.State.Terminal() {
		return err
	}
	if k.Role == journal.Provider {
		k.Note = "An answer could not be delivered: " + why + "."
		return tx.PutTask(&k)
	}
	if err := tx.Withdraw(k.ID); err != nil {
		return err
	}
	did := effect.Unverified
	if o.Type == task.TypeDelegate && !o.Uncertain {
		did = effect.Unavailable
	}
	k.Note = task.Undeliverable.Sentence() + " The hub said: " + why + "."
	return n.fail(tx, &k, task.Undeliverable, did)
}

// purge deletes what nobody can need any more.
func (n *Node) purge(ctx context.Context) error {
	return n.Journal.Write(ctx, func(tx *journal.Tx) error {
		for _, step := range []func() (int64, error){
			tx.PurgeReplay, tx.PurgeOutbox, tx.PurgeEarlyCancels,
			func() (int64, error) { return tx.PurgeRefusals(envelope.MaxLifetime) },
			func() (int64, error) { return tx.PurgeTasks(tx.Now().Add(-publicStay)) },
			func() (int64, error) { return tx.PurgeVouchers(tx.Now().Add(-publicStay)) },
		} {
			if _, err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

func hexMID(mid []byte) string { return hex.EncodeToString(mid) }
