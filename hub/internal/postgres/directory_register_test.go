package postgres

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

func TestThirtyRegistrationsOfOneAgentAtOnce(t *testing.T) {
	h := newHub(t)
	n := h.node()
	apps := make([]directory.Application, 30)
	for i := range apps {
		r := n.Register(fmt.Sprint("n", i), "x", fmt.Sprint("y", i))
		r.A2ACard = n.Card(int64(i+1), h.clock.now(), fmt.Sprint("card ", i), "text.digest")
		apps[i] = n.Apply(r)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[string]int{}
	for _, app := range apps {
		wg.Go(func() {
			ans, err := h.Register(context.Background(), app, n.Proof(h.clock.now()))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[ans.CardStatus]++
		})
	}
	wg.Wait()
	if statuses["ok"]+statuses["conflict"] != 30 || statuses["ok"] == 0 {
		t.Errorf("card statuses %v", statuses)
	}
	v, _, err := h.Show(t.Context(), n.AID())
	if err != nil || v.Name != "card 29" {
		t.Errorf("the card in place is %q, want the newest; %v", v.Name, err)
	}
	if rows(t, h.pool, "agent_cap") != len(v.Caps)+1 {
		t.Errorf("%d rows of capabilities for %v", rows(t, h.pool, "agent_cap"), v.Caps)
	}
	if s, _ := h.Stats(t.Context()); s.Agents != 1 {
		t.Errorf("%d listed agents, want 1", s.Agents)
	}
}

func TestThirtyAgentsRegisterAtOnce(t *testing.T) {
	h := newHub(t)
	var wg sync.WaitGroup
	for range 30 {
		n := h.node()
		wg.Go(func() {
			if _, err := h.Register(context.Background(), n.Apply(n.Register("n", "x")), n.Proof(h.clock.now())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s, _ := h.Stats(t.Context()); s.Agents != 30 || len(h.find("x")) != 30 {
		t.Errorf("%d agents counted, %d found, want 30", s.Agents, len(h.find("x")))
	}
}

// Number 39: 409 on what is no extension; 45: leaving keeps the key history.
func TestAHistoryIsOnlyReplacedByAnExtension(t *testing.T) {
	h := newHub(t)
	n := h.node()
	first := n.Key
	h.register(n, n.Register("n", "x"))
	n.Rotate(h.clock.now())
	rotated := n.Key
	h.register(n, n.Register("n", "x"))

	n.Key = first
	_, err := h.tryRegister(n, n.Register("n", "x"))
	wantReason(t, "the shorter history", err, "kel_rollback")
	n.Rotate(h.clock.now())
	_, err = h.tryRegister(n, n.Register("n", "x"))
	wantReason(t, "another second key event", err, "kel_forked")

	n.Key = rotated
	if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
		t.Fatal(err)
	}
	if kel, err := h.KEL(t.Context(), n.AID()); err != nil || !bytes.Equal(kel.KEL, rotated.KEL()) || kel.Note == "" {
		t.Errorf("the history of one that left: note %q, %v", kel.Note, err)
	}
	n.Key = first
	_, err = h.tryRegister(n, n.Register("n", "x"))
	wantReason(t, "coming back with less", err, "kel_rollback")
	n.Key = rotated
	if ans := h.register(n, n.Register("n", "x")); ans.Added != 1 {
		t.Errorf("coming back with the same: %+v", ans)
	}
}

func TestDeregisterRemovesAllButTheMember(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.A2ACard = n.Card(5, h.clock.now(), "n", "text.digest")
	r.EncKeys = n.Keyset(h.clock.now(), false)
	h.register(n, r)
	if _, err := h.SetAddress(t.Context(), n.Proof(h.clock.now()), "tcp://192.0.2.1:7"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.pool.Exec(t.Context(), `
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		SELECT aid, last_id + 1, 1, '2026-01-01Z', '\x00' FROM mailbox WHERE is_open`); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); n != 1 || err != nil {
		t.Fatalf("%d undelivered, %v, want the one message", n, err)
	}
	for _, table := range []string{"agent", "agent_cap", "agent_card", "agent_card_tag", "agent_keyset", "agent_address", "agent_seen", "message"} {
		if got := rows(t, h.pool, table); got != 0 {
			t.Errorf("%s keeps %d rows", table, got)
		}
	}
	v, note, err := h.Show(t.Context(), n.AID())
	if err != nil || v.Registered || !v.Departed || note == "" {
		t.Errorf("one that left is shown as %+v, %q, %v", v, note, err)
	}
	_, err = h.Deregister(t.Context(), n.Proof(h.clock.now()))
	wantReason(t, "leaving twice", err, "agent_unknown")
	r.A2ACard = n.Card(4, h.clock.now(), "n", "text.digest")
	if ans := h.register(n, r); ans.CardStatus != "conflict" || ans.KeysStatus != "ok" {
		t.Errorf("back with an older card: %+v, want a conflict", ans)
	}
}

func TestARefusedRegistrationLeavesNothing(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.Card = wire.RawJSON(`{"subject_did":"x"}`)
	_, err := h.tryRegister(n, r)
	wantReason(t, "a bad older card", err, "card_refused")
	for _, table := range []string{"member", "agent", "agent_cap", "replay"} {
		if got := rows(t, h.pool, table); got != 0 {
			t.Errorf("%s has %d rows", table, got)
		}
	}
	if _, _, err := h.Show(t.Context(), n.AID()); errs.KindOf(err) != errs.NotFound {
		t.Errorf("shown: %v", err)
	}
}

func TestAProofIsUsedOnce(t *testing.T) {
	h := newHub(t)
	n := h.node()
	app, p := n.Apply(n.Register("n", "x")), n.Proof(h.clock.now())
	if _, err := h.Register(t.Context(), app, p); err != nil {
		t.Fatal(err)
	}
	for what, again := range map[string]func() error{
		"register":   func() error { _, err := h.Register(t.Context(), app, p); return err },
		"repeat":     func() error { return h.Repeat(t.Context(), p, directory.Standing{}) },
		"profile":    func() error { return h.SetProfile(t.Context(), p, directory.Profile{Summary: "s"}) },
		"visibility": func() error { return h.SetVisibility(t.Context(), p, directory.Public) },
		"keys":       func() error { _, err := h.PutKeys(t.Context(), p, n.Keyset(h.clock.now(), true)); return err },
		"address":    func() error { _, err := h.SetAddress(t.Context(), p, "a"); return err },
		"deregister": func() error { _, err := h.Deregister(t.Context(), p); return err },
	} {
		wantReason(t, what, again(), "replayed")
	}
}
