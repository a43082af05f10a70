package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

func TestARegistrationIsFound(t *testing.T) {
	h := newHub(t)
	n := h.node()
	r := n.Register("n1", "digest", "x*", "text.hand")
	r.A2ACard = n.Card(1, h.clock.now(), "card name", "text.digest", "text.wordcount")
	r.EncKeys = n.Keyset(h.clock.now(), false)
	r.Summary, r.Readme, r.Pricing = "short", "long", "free"
	ans := h.register(n, r)
	want := wire.Registered{AID: n.AID(), Status: "registered", KeysStatus: "ok", CardStatus: "ok", Added: 4, IgnoredCaps: []string{"x*"}}
	if got, _ := json.Marshal(ans); string(got) != mustJSON(want) {
		t.Errorf("answer %s, want %s", got, mustJSON(want))
	}
	for _, q := range []string{"digest", "text.digest", "text.*", "*", "t*,digest", "text.wordcount,nothing"} {
		if got := h.find(q); !slices.Equal(got, []string{n.AID()}) {
			t.Errorf("cap=%s finds %v", q, got)
		}
	}
	for _, q := range []string{"dig", "TEXT.DIGEST", "text", "text.d", "z*"} {
		if got := h.find(q); len(got) != 0 {
			t.Errorf("cap=%s finds %v, want nobody", q, got)
		}
	}
	v, _, err := h.Show(t.Context(), n.AID())
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "card name" || !slices.Equal(v.Tags, []string{"digest", "text.hand"}) || len(v.Caps) != 4 || v.Readme != "long" || !v.Registered {
		t.Errorf("view %+v", v)
	}
	keyset, kel, err := h.Keys(t.Context(), n.AID())
	if err != nil || !bytes.Equal(keyset, r.EncKeys) || !bytes.Equal(kel, n.Key.KEL()) {
		t.Errorf("keys differ, %v", err)
	}
	if raw, err := h.NetworkCard(t.Context(), n.AID()); err != nil || !bytes.Equal(raw, r.A2ACard) {
		t.Errorf("the card's bytes differ, %v", err)
	}
	if s, err := h.Stats(t.Context()); err != nil || s.Agents != 1 {
		t.Errorf("stats %+v, %v", s, err)
	}
}

func TestOnlyWhatIsOfferedNowIsFound(t *testing.T) {
	h := newHub(t)
	n := h.node()
	h.register(n, n.Register("n", "a", "b"))
	ans := h.register(n, n.Register("n", "b", "c", "d"))
	if ans.Added != 2 || ans.Removed != 1 || ans.Unchanged != 1 {
		t.Errorf("answer %+v, want 2 added, 1 removed, 1 unchanged", ans)
	}
	if got := h.find("a"); len(got) != 0 {
		t.Errorf("what is no longer offered finds %v", got)
	}
	h.register(n, n.Register("n"))
	for _, q := range []string{"b", "*", "c,d"} {
		if got := h.find(q); len(got) != 0 {
			t.Errorf("cap=%s finds %v, which offers nothing", q, got)
		}
	}
	if s, _ := h.Stats(t.Context()); s.Agents != 0 {
		t.Errorf("%d listed agents, want 0", s.Agents)
	}
}

// Rows that share a sort value must not vanish between pages.
func TestPagesHoldEveryAgentOnceWhileOthersWrite(t *testing.T) {
	h := newHub(t)
	var nodes []*directorytest.Node
	for range 30 {
		n := h.node()
		nodes = append(nodes, n)
		h.clock.advance(-time.Second) // all at one time
		h.register(n, n.Register("n", "x.y"))
	}
	walk := func() {
		t.Helper()
		q, _ := directory.AskCap("x.y")
		got := h.list(q, 7)
		slices.Sort(got)
		if n := len(slices.Compact(slices.Clone(got))); len(got) != 30 || n != 30 {
			t.Errorf("pages hold %d entries of %d agents, want 30 of 30", len(got), n)
		}
	}
	walk()
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			n := nodes[i*7%30]
			if _, err := h.Register(context.Background(), n.Apply(n.Register(fmt.Sprint("n", i), "x.y", fmt.Sprint("z.", i%5))), n.Proof(h.clock.now())); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		walk()
	}
	close(done)
	writer.Wait()
}

// Nothing in a prefix is a wildcard.
func TestAPrefixIsLiteral(t *testing.T) {
	h := newHub(t)
	ids := []string{"a_c.one", "abc.one", "a%c.one", `a\c.one`, "a\ufffdb", "a.\U0010ffff", "a/"}
	owner := map[string]string{}
	for _, id := range ids {
		n := h.node()
		h.register(n, n.Register("n", id))
		owner[n.AID()] = id
	}
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"a_c.*", []string{"a_c.one"}}, {"a%c.*", []string{"a%c.one"}}, {`a\*`, []string{`a\c.one`}},
		{"%*", nil}, {"_*", nil}, {"a.*", []string{"a.\U0010ffff"}}, {"a.\U0010ffff*", []string{"a.\U0010ffff"}},
		{"*", ids}, {"a*", ids},
	} {
		var got []string
		for _, aid := range h.find(c.value) {
			got = append(got, owner[aid])
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) {
			t.Errorf("cap=%s finds %q, want %q", c.value, got, want)
		}
	}
	q, _ := directory.AskText("a_c")
	if got := h.list(q, 10); len(got) != 1 {
		t.Errorf("q=a_c finds %d agents, want 1", len(got))
	}
}

func TestAPrefixShowsEachAgentOnce(t *testing.T) {
	h := newHub(t)
	for i := range 12 {
		n := h.node()
		h.register(n, n.Register("n", "f.a", fmt.Sprint("f.", i), "g.x", "f.z"))
	}
	for _, value := range []string{"f.*", "f*", "f.a,f.z,g.*", "f.1*,f.z", "g*,f.5"} {
		for _, limit := range []int{1, 5, 100} {
			q, _ := directory.AskCap(value)
			got := h.list(q, limit)
			slices.Sort(got)
			if len(got) != 12 || len(slices.Compact(got)) != 12 {
				t.Errorf("cap=%s by %d shows %d agents, want each of 12 once", value, limit, len(got))
			}
		}
	}
}

func TestAnAgentThatWasNotHeardOfIsHiddenUntilItPolls(t *testing.T) {
	h := newHub(t)
	n := h.node()
	h.register(n, n.Register("n", "x"))
	h.clock.advance(30 * 24 * time.Hour)
	q, _ := directory.AskText("")
	if got := append(append(h.find("x"), h.find("x*")...), h.list(q, 10)...); len(got) != 0 {
		t.Errorf("after thirty days lists show %v", got)
	}
	if v, _, err := h.Show(t.Context(), n.AID()); err != nil || !v.Quiet {
		t.Errorf("asked for by AID: %+v, %v", v, err)
	}
	if _, err := h.store.Stamp(t.Context(), map[string]time.Time{n.AID(): h.clock.now(), "unknown": h.clock.now()}); err != nil {
		t.Fatal(err)
	}
	if got := h.find("x"); len(got) != 1 {
		t.Error("one poll did not bring it back")
	}
	if _, err := h.store.Stamp(t.Context(), map[string]time.Time{n.AID(): h.clock.now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := h.Show(t.Context(), n.AID()); v.Quiet {
		t.Error("an older sign of life moved the newer one back")
	}
}
