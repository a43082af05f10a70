package postgres

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Number 36: the card's high-water mark, and withdrawal by null.
func TestCardSequence(t *testing.T) {
	h := newHub(t)
	n := h.node()
	var kept wire.RawJSON
	for _, step := range []struct {
		why    string
		card   func() wire.RawJSON
		status string
		code   string
		skills []string // what ?cap= finds the agent by
	}{
		{"no card yet", nil, "absent", "", nil},
		{"the first", func() wire.RawJSON { kept = n.Card(10, h.clock.now(), "n", "a.one"); return kept }, "ok", "", []string{"a.one"}},
		{"the same bytes", func() wire.RawJSON { return kept }, "unchanged", "", []string{"a.one"}},
		{"left out", nil, "absent", "", []string{"a.one"}},
		{"another of the same sequence", func() wire.RawJSON { return n.Card(10, h.clock.now(), "n", "a.two") }, "conflict", "SEQ_FORK", []string{"a.one"}},
		{"an older one", func() wire.RawJSON { return n.Card(9, h.clock.now(), "n", "a.two") }, "conflict", "SEQ_ROLLBACK", []string{"a.one"}},
		{"a newer one", func() wire.RawJSON { return n.Card(11, h.clock.now(), "n", "a.two") }, "ok", "", []string{"a.two"}},
		{"no card at all", func() wire.RawJSON { return wire.RawJSON(`{"name":"x"}`) }, "invalid", "UNSIGNED", []string{"a.two"}},
		{"another agent's", func() wire.RawJSON { return h.node().Card(99, h.clock.now(), "n", "a.x") }, "invalid", "BINDING_MISMATCH", []string{"a.two"}},
		{"two names that differ in case", func() wire.RawJSON {
			return wire.RawJSON(strings.Replace(string(n.Card(12, h.clock.now(), "n", "a.x")), `{`, `{"Name":"x",`, 1))
		}, "invalid", "INVALID_CARD", []string{"a.two"}},
		{"withdrawn", func() wire.RawJSON { return wire.RawJSON("null") }, "withdrawn", "", nil},
		{"an older one after the withdrawal", func() wire.RawJSON { return kept }, "conflict", "SEQ_ROLLBACK", nil},
		{"a newer one after it", func() wire.RawJSON { return n.Card(12, h.clock.now(), "n", "a.three") }, "ok", "", []string{"a.three"}},
	} {
		r := n.Register("n")
		if step.card != nil {
			r.A2ACard = step.card()
		}
		ans := h.register(n, r)
		if ans.CardStatus != step.status || !strings.HasPrefix(ans.CardError, step.code) || (step.code == "") != (ans.CardError == "") {
			t.Errorf("%s: %s %q, want %s %s", step.why, ans.CardStatus, ans.CardError, step.status, step.code)
		}
		if v, _, _ := h.Show(t.Context(), n.AID()); !slices.Equal(v.Caps, step.skills) {
			t.Errorf("%s: the view has %v, want %v", step.why, v.Caps, step.skills)
		}
		for _, id := range step.skills {
			if len(h.find(id)) != 1 {
				t.Errorf("%s: cap=%s finds nobody", step.why, id)
			}
		}
		if n := len(h.find("a.*")); n != min(1, len(step.skills)) {
			t.Errorf("%s: cap=a.* finds %d", step.why, n)
		}
	}
}

func TestARotationDropsACardOfTheOldKey(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "tag")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "skill")
	h.register(n, r)
	n.Rotate(h.clock.now())
	ans := h.register(n, n.Register("n", "tag"))
	if ans.CardStatus != "absent" || !strings.HasPrefix(ans.CardError, "KEY_NOT_CURRENT") || ans.Removed != 1 {
		t.Errorf("answer %+v, want the card dropped with KEY_NOT_CURRENT", ans)
	}
	if len(h.find("skill")) != 0 || len(h.find("tag")) != 1 {
		t.Error("the skill of the dropped card is still found, or the tag is not")
	}
	if _, err := h.NetworkCard(t.Context(), n.AID()); errs.KindOf(err) != errs.NotFound {
		t.Errorf("the card is still served: %v", err)
	}
	r = n.Register("n", "tag")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "skill")
	if ans := h.register(n, r); ans.CardStatus != "conflict" {
		t.Errorf("another card under the old sequence: %+v", ans)
	}
	r.A2ACard = n.Card(2, h.clock.now(), "n", "skill")
	if ans := h.register(n, r); ans.CardStatus != "ok" || len(h.find("skill")) != 1 {
		t.Errorf("a new card under the new key: %+v", ans)
	}
}

func TestSkillsThatCannotBeAskedForAreNamed(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "ok", " blank", "a,b", "", "ok")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "fine", "st*r")
	ans := h.register(n, r)
	if want := []string{" blank", "a,b", "", "st*r"}; !slices.Equal(ans.IgnoredCaps, want) {
		t.Errorf("ignored %q, want %q", ans.IgnoredCaps, want)
	}
	if v, _, _ := h.Show(t.Context(), n.AID()); !slices.Equal(v.Caps, []string{"fine", "ok"}) {
		t.Errorf("caps %v", v.Caps)
	}
}

func TestKeySetSequence(t *testing.T) {
	h := newHub(t)
	n := h.node()
	first := n.Keyset(h.clock.now(), false)
	h.clock.advance(time.Minute)
	second := n.Keyset(h.clock.now(), true)
	other := n.Ring
	h.clock.advance(time.Minute)
	for _, step := range []struct {
		why    string
		keys   []byte
		status string
	}{
		{"none", nil, "absent"}, {"the first", first, "ok"}, {"again", first, "unchanged"},
		{"no key set", []byte("x"), "invalid"}, {"another agent's", h.node().Keyset(h.clock.now(), false), "invalid"},
		{"a newer one", second, "ok"}, {"the older one", first, "conflict"}, {"left out", nil, "absent"},
	} {
		r := n.Register("n", "x")
		r.EncKeys = step.keys
		ans := h.register(n, r)
		if ans.KeysStatus != step.status || (ans.KeysError != "") != (step.status == "invalid" || step.status == "conflict") {
			t.Errorf("%s: %s %q, want %s", step.why, ans.KeysStatus, ans.KeysError, step.status)
		}
	}
	if stored, _, err := h.Keys(t.Context(), n.AID()); err != nil || !bytes.Equal(stored, second) {
		t.Errorf("the newest set is not the one served, %v", err)
	}
	n.Ring = other
	putKeys := func(raw []byte) (string, error) { return h.PutKeys(t.Context(), n.Proof(h.clock.now()), raw) }
	if s, err := putKeys(second); s != "unchanged" || err != nil {
		t.Errorf("published again: %s, %v", s, err)
	}
	_, err := putKeys(first)
	wantReason(t, "publishing the older one", err, "keys_rollback")
	_, err = putKeys([]byte{1})
	wantReason(t, "publishing no set", err, "keys_invalid")
	_, err = putKeys(nil)
	wantReason(t, "publishing nothing", err, "keyset_missing")
	n.Rotate(h.clock.now())
	h.register(n, n.Register("n", "x"))
	if s, err := putKeys(n.Keyset(h.clock.now(), false)); s != "unchanged" || err != nil {
		t.Errorf("the same set, signed again after a rotation: %s, %v", s, err)
	}
	if stored, _, _ := h.Keys(t.Context(), n.AID()); bytes.Equal(stored, second) {
		t.Error("the new signature was not stored")
	}
}

func TestTheOlderCard(t *testing.T) {
	h := newHub(t)
	n := h.node()
	put := func(raw []byte) error {
		r := n.Register("n", "x")
		r.Card = raw
		_, err := h.tryRegister(n, r)
		return err
	}
	first := n.ADPCard(1, h.clock.now())
	for _, step := range []struct {
		why string
		raw []byte
		ok  bool
	}{
		{"the first", first, true}, {"the same bytes", first, true}, {"null is absent", []byte("null"), true},
		{"another of the sequence", n.ADPCard(1, h.clock.now().Add(time.Second)), false},
		{"a newer one", n.ADPCard(2, h.clock.now()), true}, {"the first again", first, false},
		{"another agent's", h.node().ADPCard(3, h.clock.now()), false},
	} {
		if err := put(step.raw); (err == nil) != step.ok {
			t.Errorf("%s: %v", step.why, err)
		}
	}
	if raw, err := h.ADPCard(t.Context(), n.AID()); err != nil || bytes.Equal(raw, first) {
		t.Errorf("the newer card is not the one served, %v", err)
	}
}

// An unchanged registration rewrites nothing; whatever changed since then makes
// it a registration like any other.
func TestRepeatable(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.A2ACard = n.Card(1, h.clock.now(), "n", "skill")
	r.EncKeys = n.Keyset(h.clock.now(), false)
	app := n.Apply(r)
	repeats := func() bool {
		t.Helper()
		st, err := h.Standing(t.Context(), h.visitor(n))
		if err != nil {
			t.Fatal(err)
		}
		want := st.Repeats(app.Body, h.clock.now())
		answer, err := h.Recall(t.Context(), n.Proof(h.clock.now()), app.Body)
		if err != nil || (answer != nil) != want || want && !bytes.Equal(answer, st.Answer) {
			t.Errorf("recalled as %s, %v, looked up as %s, repeatable %v", answer, err, st.Answer, want)
		}
		return want
	}
	if repeats() {
		t.Error("an AID nobody knows repeats itself")
	}
	h.register(n, r)
	st, err := h.Standing(t.Context(), h.visitor(n))
	if err != nil || !st.Repeats(app.Body, h.clock.now()) {
		t.Fatalf("the same body again is no repetition, %v", err)
	}
	want := wire.Registered{AID: n.AID(), Status: "registered", KeysStatus: "unchanged", CardStatus: "unchanged", Unchanged: 2}
	if string(st.Answer) != mustJSON(want) {
		t.Errorf("it is told %s, want %s", st.Answer, mustJSON(want))
	}
	if st.Repeats(n.Apply(n.Register("n", "y")).Body, h.clock.now()) {
		t.Error("another body is a repetition")
	}
	for why, change := range map[string]func() error{
		"profile": func() error {
			return h.SetProfile(t.Context(), n.Proof(h.clock.now()), directory.Profile{Summary: "s"})
		},
		"keys": func() error {
			h.clock.advance(time.Minute)
			_, err := h.PutKeys(t.Context(), n.Proof(h.clock.now()), n.Keyset(h.clock.now(), true))
			return err
		},
		"leaving": func() error { _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); return err },
	} {
		r.EncKeys = nil
		app = n.Apply(r)
		h.register(n, r)
		if !repeats() {
			t.Fatalf("%s: no repetition before", why)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if repeats() {
			t.Errorf("%s: still a repetition after it", why)
		}
	}
}

func TestARejectedPartIsLookedAtAgain(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.A2ACard = n.Card(1, h.clock.now().Add(time.Hour), "n", "skill")
	if ans := h.register(n, r); !strings.HasPrefix(ans.CardError, "CARD_NOT_YET_VALID") {
		t.Fatalf("a card of the future: %+v", ans)
	}
	h.clock.advance(2 * time.Hour)
	if st, _ := h.Standing(t.Context(), h.visitor(n)); st.Repeats(n.Apply(r).Body, h.clock.now()) {
		t.Error("the same body would get the same answer, though its card is valid now")
	}
	if ans := h.register(n, r); ans.CardStatus != "ok" {
		t.Errorf("answer %+v", ans)
	}
}

func TestKeysThatEndMakeTheBodyNew(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n", "x")
	r.EncKeys = n.Keyset(h.clock.now(), false)
	h.register(n, r)
	app := n.Apply(r)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{13 * 24 * time.Hour, true}, {15 * 24 * time.Hour, false}} {
		st, err := h.Standing(t.Context(), h.visitor(n))
		now := h.clock.now().Add(c.after)
		if got := st.Repeats(app.Body, now); err != nil || got != c.want {
			t.Errorf("after %v: repetition = %v, %v", c.after, got, err)
		}
		answer, err := h.store.Recall(t.Context(), n.Proof(h.clock.now()), app.Body, now)
		if err != nil || (answer != nil) != c.want {
			t.Errorf("after %v: recalled as %s, %v", c.after, answer, err)
		}
	}
}

func TestProfileVisibilityAddress(t *testing.T) {
	h := newHub(t)
	n := h.node()
	h.register(n, n.Register("n"))
	if err := h.SetProfile(t.Context(), n.Proof(h.clock.now()), directory.Profile{Summary: "Weiße Katze", Readme: "r"}); err != nil {
		t.Fatal(err)
	}
	q, _ := directory.AskText("WEISSE")
	q2, _ := directory.AskText("weiße k")
	if len(h.list(q, 5)) != 0 || len(h.list(q2, 5)) != 1 {
		t.Error("the summary is not found as it stands, lower-cased")
	}
	h.register(n, n.Register("n2"))
	if v, _, _ := h.Show(t.Context(), n.AID()); v.Summary != "Weiße Katze" || v.Name != "n2" {
		t.Errorf("a registration without a profile changed it: %+v", v)
	}
	if err := h.SetVisibility(t.Context(), n.Proof(h.clock.now()), directory.Federated); err != nil {
		t.Fatal(err)
	}
	if a, _, err := h.store.Agent(t.Context(), n.AID()); err != nil || a.Visibility != directory.Federated {
		t.Errorf("visibility %q, %v", a.Visibility, err)
	}
	if _, err := h.SetAddress(t.Context(), n.Proof(h.clock.now()), "tcp://192.0.2.1:9"); err != nil {
		t.Fatal(err)
	}
	if a, err := h.Address(t.Context(), n.AID()); err != nil || a.Addr != "tcp://192.0.2.1:9" {
		t.Errorf("address %+v, %v", a, err)
	}
	if all, err := h.Addresses(t.Context(), plenty); err != nil || len(all) != 1 {
		t.Errorf("addresses %v, %v", all, err)
	}
	if _, err := h.SetAddress(t.Context(), n.Proof(h.clock.now()), ""); err != nil {
		t.Fatal(err)
	}
	_, err := h.Address(t.Context(), n.AID())
	wantReason(t, "a withdrawn address", err, "address_unknown")
	stranger := h.node()
	for what, err := range map[string]error{
		"profile":    h.SetProfile(t.Context(), stranger.Proof(h.clock.now()), directory.Profile{Summary: "s"}),
		"visibility": h.SetVisibility(t.Context(), stranger.Proof(h.clock.now()), directory.Public),
	} {
		wantReason(t, what+" of a stranger", err, "agent_unknown")
	}
}

func TestCardsAreListedByTheCardAlone(t *testing.T) {
	h := newHub(t)
	byAID := map[string]*directorytest.Node{}
	for i, skills := range [][]string{{"text.digest"}, {"text.digest", "text.wordcount"}, {"video.cut"}, nil} {
		n := h.node()
		r := n.Register("n", "video.cut", "tagged")
		if skills != nil {
			r.A2ACard = n.Card(int64(i+1), h.clock.now(), "Müller's digester", skills...)
		}
		h.register(n, r)
		byAID[n.AID()] = n
	}
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		why        string
		skill, tag *string
		q          string
		want       int
	}{
		{"everybody with a card", nil, nil, "", 3},
		{"by skill", text("text.digest"), nil, "", 2},
		{"a registration's word is no skill", text("tagged"), nil, "", 0},
		{"nor beside a card", text("video.cut"), nil, "", 1},
		{"by tag", nil, text("text"), "", 2},
		{"by both", text("text.digest"), text("wordcount"), "", 1},
		{"by words", nil, nil, "MÜLLER", 3},
		{"by the name of a skill", nil, nil, "video", 1},
		{"by all three", text("text.digest"), text("wordcount"), "müller", 1},
		{"wildcards are literal", nil, nil, "m%", 0},
	} {
		q, err := directory.AskCards(c.skill, c.tag, c.q)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 50} {
			var aids []string
			for cursor := ""; ; {
				p, err := h.ListCards(t.Context(), q, limit, cursor, plenty)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range p.Rows {
					aids = append(aids, r.AID)
				}
				if cursor = p.Next; cursor == "" {
					break
				}
			}
			if len(aids) != c.want || !slices.IsSorted(aids) {
				t.Errorf("%s, by %d: %v, want %d in the order of AIDs", c.why, limit, aids, c.want)
			}
		}
	}
	h.clock.advance(31 * 24 * time.Hour)
	if p, err := h.ListCards(t.Context(), directory.CardQuestion{}, 50, "", plenty); err != nil || len(p.Rows) != 0 {
		t.Errorf("after thirty days %d cards are listed, %v", len(p.Rows), err)
	}
}
