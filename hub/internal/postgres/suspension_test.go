package postgres

import (
	"slices"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
)

// Everything a suspended agent asks for is refused, and nothing finds it; when
// the suspension is lifted all is as it was, mail included.
func TestSuspension(t *testing.T) {
	h := newHub(t)
	members, by := NewMembers(h.pool), audit.By{Who: "alice"}
	n, other := h.node(), h.node()
	r := n.Register("n", "digest")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "text.digest")
	h.register(n, r)
	h.register(other, other.Register("other", "digest"))
	suspend := by.Did("agent.suspend", n.AID(), h.clock.now())
	if _, err := h.pool.Exec(t.Context(), `
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		SELECT aid, last_id + 1, 1, '2026-01-01Z', '\x00' FROM mailbox WHERE aid = $1`, n.AID()); err != nil {
		t.Fatal(err)
	}
	if err := members.Suspend(t.Context(), suspend); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "suspending twice", members.Suspend(t.Context(), suspend), "suspended_already")

	_, err := h.store.SignerKEL(t.Context(), n.AID())
	wantReason(t, "a signed request", err, "agent_suspended")
	_, err = h.tryRegister(n, r)
	wantReason(t, "registering", err, "agent_suspended")
	wantReason(t, "a profile that was on its way", h.SetProfile(t.Context(), n.Proof(h.clock.now()), directory.Profile{Summary: "x"}), "agent_suspended")
	for _, q := range []string{"digest", "text.*", "*"} {
		if got := h.find(q); slices.Contains(got, n.AID()) {
			t.Errorf("cap=%s finds it", q)
		}
	}
	if s, _ := h.Stats(t.Context()); s.Agents != 1 {
		t.Errorf("%d listed agents, want the other", s.Agents)
	}
	if v, note, _ := h.Show(t.Context(), n.AID()); v.Listed || note == "" {
		t.Errorf("shown as %+v, %q", v, note)
	}
	if got := h.cards(); len(got) != 0 {
		t.Errorf("cards of %v are listed", got)
	}
	if is := h.openMailbox(n.AID()); is {
		t.Error("its mailbox takes mail")
	}

	resume := by.Did("agent.resume", n.AID(), h.clock.now())
	if err := members.Resume(t.Context(), resume); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "resuming twice", members.Resume(t.Context(), resume), "not_suspended")
	if got := h.find("text.digest"); !slices.Equal(got, []string{n.AID()}) {
		t.Errorf("afterwards text.digest finds %v", got)
	}
	if s, _ := h.Stats(t.Context()); s.Agents != 2 || len(h.cards()) != 1 || !h.openMailbox(n.AID()) || rows(t, h.pool, "message") != 1 {
		t.Errorf("afterwards %d agents, cards of %v, a mailbox %v with %d messages", s.Agents, h.cards(), h.openMailbox(n.AID()), rows(t, h.pool, "message"))
	}
	if ans := h.register(n, r); ans.Unchanged != 2 || ans.Added != 0 {
		t.Errorf("registering afterwards: %+v", ans)
	}
	wantReason(t, "somebody nobody knows", members.Suspend(t.Context(), by.Did("agent.suspend", h.node().AID(), h.clock.now())), "agent_unknown")
}

// A suspension outlives the registration.
func TestASuspendedAgentDoesNotComeBackByLeaving(t *testing.T) {
	h := newHub(t)
	n := h.node()
	h.register(n, n.Register("n", "x"))
	if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
		t.Fatal(err)
	}
	act := audit.By{}.Did("agent.suspend", n.AID(), h.clock.now())
	if err := NewMembers(h.pool).Suspend(t.Context(), act); err != nil {
		t.Fatal(err)
	}
	_, err := h.tryRegister(n, n.Register("n", "x"))
	wantReason(t, "coming back", err, "agent_suspended")
}

func (h *hub) cards() (aids []string) {
	h.t.Helper()
	st, err := h.store.Cards(h.t.Context(), directory.CardQuestion{}, "", 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range st.Rows {
		if len(c.Card) > 0 {
			aids = append(aids, c.AID)
		}
	}
	return aids
}

func (h *hub) openMailbox(aid string) (open bool) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), `SELECT is_open FROM mailbox WHERE aid = $1`, aid).Scan(&open); err != nil {
		h.t.Fatal(err)
	}
	return open
}
