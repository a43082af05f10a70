package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// Each way out of the lists is named as the first gate that is not passed, and
// says what to do; none of them is named when lists show the agent.
func TestWhy(t *testing.T) {
	h := newHub(t)
	o, p := h.operator(), h.sweeping()
	come := func(caps ...string) *directorytest.Node {
		n := h.node()
		r := n.Register("n", caps...)
		h.register(n, r)
		return n
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	silent := come("x")
	h.live(p, 30)
	quiet := come("x")
	h.clock.advance(2 * time.Hour)
	listed, hidden, blocked, left, nothing, never := come("x", "y"), come("x"), come("x"), come("x"), come(), h.node()
	must(o.Hide(t.Context(), o.act("agent.hide", hidden.AID())))
	must(o.block("aid", blocked.AID(), time.Hour))
	banned := h.node()
	must(o.block("aid", banned.AID(), 0))
	_, err := h.Deregister(t.Context(), left.Proof(h.clock.now()))
	must(err)
	for _, c := range []struct {
		why, cap, gate, hint string
		n                    *directorytest.Node
		gates                int
	}{
		{"listed", "", "", "", listed, 9},
		{"listed, by an id", "x", "", "", listed, 9},
		{"another id", "z", "capability", "public_capabilities", listed, 9},
		{"an id that begins like one of its", "xx", "capability", "public_capabilities", listed, 9},
		{"quiet is no reason", "x", "", "", quiet, 9},
		{"silent", "x", "hidden", "one poll", silent, 9},
		{"hidden", "x", "visible", "unhide", hidden, 9},
		{"blocked", "x", "blocked", "unblock", blocked, 9},
		{"blocked and never here", "x", "blocked", "unblock", banned, 2},
		{"left", "", "admitted", "hub-register", left, 3},
		{"never here", "", "known", "join", never, 2},
		{"offers nothing", "", "capability", "serve", nothing, 9},
	} {
		v, err := h.Why(t.Context(), c.n.AID(), c.cap)
		if err != nil {
			t.Fatal(err)
		}
		if v.Gate != c.gate || !strings.Contains(v.Hint, c.hint) || v.Listed != (c.gate == "") || len(v.Gates) != c.gates {
			t.Errorf("%s: %+v, want %q and a hint with %q", c.why, v, c.gate, c.hint)
		}
		if strings.Contains(v.Hint, "ask the hub's operator") {
			t.Errorf("%s: the operator is told %q", c.why, v.Hint)
		}
		found := false
		for _, aid := range h.find(map[bool]string{true: "*", false: c.cap}[c.cap == ""]) {
			found = found || aid == c.n.AID()
		}
		if found != v.Listed {
			t.Errorf("%s: lists show it: %v, told %v", c.why, found, v.Listed)
		}
	}
	if v, _ := h.Why(t.Context(), quiet.AID(), ""); v.Gates[7].State != wire.GateWarning {
		t.Errorf("a quiet agent is told %+v", v.Gates[7])
	}
	for id, reason := range map[string]string{"x*": "cap_invalid", "a,b": "cap_invalid", "a\x00": "cap_invalid"} {
		_, err := h.Why(t.Context(), listed.AID(), id)
		wantReason(t, id, err, reason)
	}
	_, err = h.AskWhy(t.Context(), h.known(blocked), "")
	wantReason(t, "a blocked one asks itself", err, "blocked")
	proof := h.known(hidden)
	v, err := h.AskWhy(t.Context(), proof, "")
	must(err)
	if v.Hint != "ask the hub's operator" {
		t.Errorf("a hidden one that asks itself is told %q", v.Hint)
	}
	_, err = h.AskWhy(t.Context(), proof, "")
	wantReason(t, "the same signature again", err, "replayed")
}

// What is said of a card that no longer verifies is the verifier's word.
func TestWhyNamesACardThatIsNone(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "skill")
	h.register(n, r)
	card := func() wire.Gate {
		v, err := h.Why(t.Context(), n.AID(), "skill")
		if err != nil || !v.Listed {
			t.Fatalf("%+v, %v", v, err)
		}
		return v.Gates[4]
	}
	if g := card(); g.Gate != "card" || g.State != wire.GatePassed {
		t.Errorf("%+v", g)
	}
	if _, err := h.pool.Exec(t.Context(), `UPDATE agent_card SET card = '{}'`); err != nil {
		t.Fatal(err)
	}
	if g := card(); g.State != wire.GateWarning || !strings.Contains(g.Says, "UNSIGNED") {
		t.Errorf("%+v", g)
	}
}
