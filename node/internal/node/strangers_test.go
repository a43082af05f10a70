package node

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/task"
)

func bounded(s config.Strangers) option { return func(p *Parts) { p.Strangers = s } }

// An open node takes texts of strangers within bounds, of one and of all of
// them. What exceeds them is refused with a reason, and nothing of it is kept.
func TestStrangersTextsAreBounded(t *testing.T) {
	limits := config.DefaultStrangers()
	limits.PerCallerTasks, limits.MaxTasks, limits.PerCallerBytes = 2, 3, 32<<10
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob", open, bounded(limits))
		eve, mallory, peer := w.node("eve"), w.node("mallory"), w.node("peer")
		w.allow(bob, peer)
		text := func(from *running, words string) Task {
			return w.wait(from, w.ask(from, bob, words).ID, time.Second)
		}
		for _, tt := range []struct {
			name, want string
			from       *running
			words      string
		}{
			{"one", "submitted -  unknown", eve, "hello"},
			{"more than one may leave at all", "rejected - args_too_large unknown", eve, strings.Repeat("x", 32<<10)},
			{"two", "submitted -  unknown", eve, "hello"},
			{"three of one stranger", "rejected - pending_full unknown", eve, "hello"},
			{"one of another", "submitted -  unknown", mallory, "hello"},
			{"four of all strangers", "rejected - pending_full unknown", mallory, "hello"},
			{"a listed peer", "submitted -  unknown", peer, strings.Repeat("x", 64<<10)},
		} {
			wantOutcome(t, tt.name, text(tt.from, tt.words), tt.want)
		}
		if n := len(w.inbox(bob)); n != 4 {
			t.Errorf("%d tasks are kept, want 4", n)
		}
		s := Status{}
		w.must(bob.Fill(t.Context(), &s))
		if s.Strangers == nil || s.Strangers.Tasks != 3 || !s.Strangers.Full() {
			t.Errorf("the status says %+v of strangers, want 3 tasks and that it is full", s.Strangers)
		}
	})
}

// An end makes room for another task; bytes stay kept for a week after it.
func TestAnEndMakesRoomForStrangers(t *testing.T) {
	limits := config.DefaultStrangers()
	limits.PerCallerTasks = 1
	limits.PerCallerBytes = 40 << 10
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob", open, bounded(limits))
		eve := w.node("eve")
		first := w.ask(eve, bob, strings.Repeat("x", 10<<10)) // kept as words and as document
		synctest.Wait()
		_, err := bob.End(t.Context(), first.ID, "done", nil)
		w.must(err)
		second := w.ask(eve, bob, "hello")
		synctest.Wait()
		wantOutcome(t, "after an end", w.task(eve, second.ID), "submitted -  unknown")
		_, err = bob.End(t.Context(), second.ID, "done", nil)
		w.must(err)
		third := w.ask(eve, bob, strings.Repeat("x", 10<<10))
		synctest.Wait()
		wantOutcome(t, "what ended is still on the disk", w.task(eve, third.ID), "rejected - pending_full unknown")
		time.Sleep(publicStay + 2*purgeEvery)
		fourth := w.ask(eve, bob, strings.Repeat("x", 10<<10))
		synctest.Wait()
		wantOutcome(t, "a week later", w.task(eve, fourth.ID), "submitted -  unknown")
	})
}

// Words within a task have a bound as well. Who said too much hears of it and
// the task goes on; to end it there is always room.
func TestStrangersTurnsAreBounded(t *testing.T) {
	limits := config.DefaultStrangers()
	limits.PerCallerBytes = 24 << 10
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob", open, bounded(limits))
		eve := w.node("eve")
		asked := w.ask(eve, bob, "hello")
		synctest.Wait()
		for i, want := range []string{"", "", string(task.PendingFull)} {
			_, err := eve.Message(t.Context(), asked.ID, strings.Repeat("x", 8<<10), nil)
			w.must(err)
			synctest.Wait()
			got := w.task(eve, asked.ID)
			if got.Reason != want || got.Ended {
				t.Errorf("message %d: %s, reason %q, want %q and no end", i+1, got.State, got.Reason, want)
			}
		}
		thread, err := bob.Thread(t.Context(), asked.ID)
		w.must(err)
		if len(thread.Messages) != 2 {
			t.Errorf("%d messages are kept, want 2", len(thread.Messages))
		}
		_, err = eve.End(t.Context(), asked.ID, strings.Repeat("y", 8<<10), nil)
		w.must(err)
		synctest.Wait()
		wantOutcome(t, "its end", w.task(eve, asked.ID), "completed -  verified")
	})
}

// A cancellation sent ahead of its task opens no way around the bounds.
func TestWithdrawnTextsOfStrangersCount(t *testing.T) {
	limits := config.DefaultStrangers()
	limits.PerCallerBytes = 16 << 10
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob", open, bounded(limits))
		eve := w.stranger()
		for i := range 20 {
			ix := fmt.Sprintf("ix_%032d", i)
			eve.send(bob, task.TypeMessage, ix, body(w, task.ChatMsg{Kind: task.KindCancel, MsgID: "m"}))
			eve.send(bob, task.TypeDelegate, ix, body(w, eve.words(ix)))
		}
		synctest.Wait()
		if n := len(w.inbox(bob)); n == 0 || n > 15 {
			t.Errorf("%d withdrawn tasks are kept, want some and as many as fit", n)
		}
		if bob.Dropped.All()[string(task.PendingFull)] == 0 {
			t.Errorf("dropped %v, want some as %s", bob.Dropped.All(), task.PendingFull)
		}
	})
}

// Who was listed since is a stranger no more.
func TestAListedPeerIsNoStranger(t *testing.T) {
	limits := config.DefaultStrangers()
	limits.PerCallerBytes = 16 << 10
	story(t, func(t *testing.T, w *world) {
		bob := w.node("bob", open, bounded(limits))
		eve := w.node("eve")
		asked := w.ask(eve, bob, "hello")
		synctest.Wait()
		w.must(bob.Lists.Put(eve.aid(), peers.Allow))
		_, err := eve.Message(t.Context(), asked.ID, strings.Repeat("x", 32<<10), nil)
		w.must(err)
		synctest.Wait()
		thread, err := bob.Thread(t.Context(), asked.ID)
		w.must(err)
		if len(thread.Messages) != 1 {
			t.Errorf("%d messages are kept, want 1", len(thread.Messages))
		}
	})
}
