package home

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

func TestRegistersAtStartAndWhenPoked(t *testing.T) {
	settle(t, `{"tags":["go"]}`, func(t *testing.T, h *Home, hub *hub) {
		if hub.count() != 1 || strings.Join(hub.body(0).Caps, " ") != "go" {
			t.Fatalf("at the start %d registrations, want one with the tag", hub.count())
		}
		h.Poke()
		synctest.Wait()
		if hub.count() != 2 {
			t.Errorf("after a poke %d registrations, want 2", hub.count())
		}
	})
}

// D.4: new encryption keys are published when they are due.
func TestRegistersWithNewKeys(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		time.Sleep(8 * 24 * time.Hour)
		if n := hub.count(); n != 2 || string(hub.body(0).EncKeys) == string(hub.body(1).EncKeys) {
			t.Errorf("%d registrations in eight days, want a second one with new keys", n)
		}
	})
}

// A clock that is set while the node sleeps does not let its keys run out.
func TestRegistersAfterTheClockWasSet(t *testing.T) {
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		hub := &hub{}
		h := at(t, dir, "", hub)
		h.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(time.Minute)
		ahead.Store(int64(30 * 24 * time.Hour))
		time.Sleep(time.Hour)
		if n := hub.count(); n != 2 {
			t.Errorf("%d registrations, want one at the start and one soon after the clock was set", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestTriesAgainAndIsNotHurried(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		hub.set(func() { hub.fails = errs.New(errs.TooMany, "rate_limited", "slow down").After(time.Minute) })
		h.Poke()
		synctest.Wait()
		var s node.Status
		h.Describe(t.Context(), &s)
		if s.Registered || s.RegisterError != "slow down" || s.HubError == "" || s.Listed != nil {
			t.Errorf("status while the hub refuses: %+v; want the reason and no claim about what is listed", s)
		}
		hub.set(func() { hub.fails = nil })
		for range 5 {
			h.Poke()
		}
		time.Sleep(59 * time.Second)
		if hub.count() != 1 {
			t.Error("a hub that asked for a minute was asked sooner")
		}
		time.Sleep(time.Minute)
		if hub.count() != 2 {
			t.Errorf("%d registrations after the minute, want 2", hub.count())
		}
	})
}

func TestRotationIsRegistered(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		before, _ := h.Identity(t.Context())
		after, err := h.RotateIdentity(t.Context())
		synctest.Wait()
		if err != nil || after.AID != before.AID || after.KeySeq != before.KeySeq+1 {
			t.Errorf("RotateIdentity = %+v, %v; want the same agent with its next key", after, err)
		}
		if hub.count() != 2 || string(hub.body(1).KEL) != string(after.KEL) {
			t.Error("the hub was not told of the longer history")
		}
	})
}

// After a rotation the hub hears of the new key before anything signed by it.
func TestARotationIsToldFirst(t *testing.T) {
	settle(t, "{}", func(t *testing.T, h *Home, hub *hub) {
		settled := make(chan int, 1)
		hub.set(func() { hub.meet = func() { time.Sleep(time.Minute) } })
		go func() {
			if _, err := h.RotateIdentity(t.Context()); err != nil {
				t.Error(err)
			}
			if err := h.Settled(t.Context()); err != nil {
				t.Error(err)
			}
			settled <- hub.count()
		}()
		if n := <-settled; n != 2 {
			t.Errorf("%d registrations, want one of each key", n)
		}
	})
}
