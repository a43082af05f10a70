package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
)

// Who is hidden works and is in no list, whatever it does, until it is shown.
func TestHidingAndShowing(t *testing.T) {
	h := newHub(t)
	o, n, other := h.operator(), h.node(), h.node()
	h.register(other, other.Register("other", "digest"))
	r := n.Register("n", "digest")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "text.digest")
	h.register(n, r)
	before := h.shows(n)
	if err := o.Hide(t.Context(), o.act("agent.hide", n.AID())); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "hiding twice", o.Hide(t.Context(), o.act("agent.hide", n.AID())), "hidden_already")
	for what, err := range h.everything(n, other) {
		wantReason(t, what, err, "")
	}
	for range 2 {
		if got := h.shows(n); got.listed || got.carded || !got.open || got.indexed != 0 || got.counted != 1 {
			t.Errorf("hidden: %+v", got)
		}
		if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
			t.Fatal(err)
		}
		h.register(n, r)
	}
	if v, note, err := h.Show(t.Context(), n.AID()); err != nil || v.Listed || note != "this agent is hidden by the hub's operator: it works, and no list shows it" {
		t.Errorf("asked for by AID: %+v, %q, %v", v, note, err)
	}
	if err := o.Unhide(t.Context(), o.act("agent.unhide", n.AID())); err != nil {
		t.Fatal(err)
	}
	if got := h.shows(n); got != before {
		t.Errorf("afterwards: %+v, want %+v", got, before)
	}
	wantReason(t, "showing twice", o.Unhide(t.Context(), o.act("agent.unhide", n.AID())), "not_hidden")
}

// The three reasons for being in no list are apart: one ends and another holds.
func TestReasonsNotToBeShownAddUp(t *testing.T) {
	h := newHub(t)
	o, p, n := h.operator(), h.sweeping(), h.node()
	h.register(n, n.Register("n", "digest"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(o.Hide(t.Context(), o.act("agent.hide", n.AID())))
	must(o.block("aid", n.AID(), 0))
	h.live(p, 31)
	h.tour(p)
	for i, end := range []func() error{
		func() error { return o.unblock("aid", n.AID()) },
		func() error { return o.Unhide(t.Context(), o.act("agent.unhide", n.AID())) },
		func() error { h.seen(n); return nil },
	} {
		if got := h.shows(n); got.listed || got.indexed != 0 || got.counted != 0 {
			t.Errorf("before end %d: %+v", i, got)
		}
		must(end())
	}
	if got := h.shows(n); !got.listed || got.indexed != 2 || got.counted != 1 || !got.open {
		t.Errorf("afterwards: %+v", got)
	}
}

// Removing is leaving, by another hand: history and marks stay.
func TestRemoving(t *testing.T) {
	h := newHub(t)
	o, n := h.operator(), h.node()
	r := n.Register("n", "digest")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "text.digest")
	h.register(n, r)
	h.mail(n)
	if gone, err := o.Remove(t.Context(), o.act("agent.remove", n.AID())); err != nil || gone != 1 {
		t.Fatalf("%d messages, %v", gone, err)
	}
	_, err := o.Remove(t.Context(), o.act("agent.remove", n.AID()))
	wantReason(t, "removing twice", err, "not_registered")
	_, err = h.store.SignerKEL(t.Context(), h.visitor(n))
	wantReason(t, "its next request", err, "agent_unknown")
	if kel, err := h.KEL(t.Context(), n.AID()); err != nil || kel.Note == "" || !slices.Equal(kel.KEL, n.Key.KEL()) {
		t.Errorf("its history: %q, %v", kel.Note, err)
	}
	if got := h.find("digest"); len(got) != 0 {
		t.Errorf("digest finds %v", got)
	}
	if ans := h.register(n, r); ans.CardStatus != "unchanged" && ans.CardStatus != "ok" {
		t.Errorf("it comes back: %+v", ans)
	}
}

// Each act is written down where it happened, and nothing else is; acts on what
// is not there fail.
func TestActsOfModerationAreWrittenDown(t *testing.T) {
	h := newHub(t)
	o, n, nobody := h.operator(), h.node(), h.node().AID()
	h.register(n, n.Register("n", "x"))
	aid := n.AID()
	member := moderation.Block{Target: moderation.Target{AID: nobody}, At: h.clock.now()}
	wantReason(t, "hiding nobody", o.Hide(t.Context(), o.act("agent.hide", nobody)), "agent_unknown")
	wantReason(t, "showing nobody", o.Unhide(t.Context(), o.act("agent.unhide", nobody)), "agent_unknown")
	wantReason(t, "blocking nobody", o.BlockMember(t.Context(), member, o.act("block.add", nobody)), "agent_unknown")
	wantReason(t, "lifting no block", o.unblock("aid", nobody), "not_blocked")
	_, err := o.Remove(t.Context(), o.act("agent.remove", nobody))
	wantReason(t, "removing nobody", err, "not_registered")
	if got := o.acts(); len(got) != 0 {
		t.Errorf("what failed is written down: %v", got)
	}
	for _, do := range []func() error{
		func() error { return o.Hide(t.Context(), o.act("agent.hide", aid)) },
		func() error { return o.block("aid", nobody, 0) },
		func() error { return o.block("host", "203.0.113.0/24", time.Hour) },
		func() error { return o.unblock("host", "203.0.113.9/24") },
		func() error { _, err := o.Remove(t.Context(), o.act("agent.remove", aid)); return err },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"agent.hide " + aid, "block.add " + nobody, "block.add 203.0.113.0/24", "block.remove 203.0.113.0/24", "agent.remove " + aid}
	if got := o.acts(); !slices.Equal(got, want) {
		t.Errorf("written down: %v, want %v", got, want)
	}
	if blocks, err := o.Blocks(t.Context(), h.clock.now()); err != nil || len(blocks) != 1 || blocks[0].AID != nobody || blocks[0].Why != alice.Why {
		t.Errorf("in force: %+v, %v", blocks, err)
	}
}

// Whom no list shows, the list of addresses does not show either.
func TestAddressesAreListedOfWhoIsShown(t *testing.T) {
	h := newHub(t)
	o := h.operator()
	seen, hidden, blocked := h.node(), h.node(), h.node()
	for _, n := range []*directorytest.Node{seen, hidden, blocked} {
		h.register(n, n.Register("n", "x"))
		if _, err := h.SetAddress(t.Context(), h.known(n), "tcp://192.0.2.1:9"); err != nil {
			t.Fatal(err)
		}
	}
	wantReason(t, "hiding", o.Hide(t.Context(), o.act("agent.hide", hidden.AID())), "")
	wantReason(t, "blocking", o.block("aid", blocked.AID(), 0), "")
	if all, err := h.Addresses(t.Context(), plenty); err != nil || len(all) != 1 || all[0].AID != seen.AID() {
		t.Errorf("addresses of %+v, %v, want of %s alone", all, err, seen.AID())
	}
}
