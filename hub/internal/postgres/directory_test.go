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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// hub is a directory on a database of its own.
type hub struct {
	*directory.Directory
	t     *testing.T
	pool  *pgxpool.Pool
	store *Directory
	clock *clock
	lives *lives
}

// lives stamps at once, where a hub does it in batches.
type lives struct {
	directory.Lives
	store *Directory
}

func (l *lives) Seen(aid string, at time.Time) {
	_, _ = l.store.Stamp(context.Background(), map[string]time.Time{aid: at})
}

func newHub(t *testing.T) *hub { return newHubWith(t, admission.Door{}) }

func newHubWith(t *testing.T, door admission.Door) *hub {
	t.Helper()
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := NewDirectory(pool, r)
	l := &lives{Lives: directorytest.Usual{}, store: store}
	d := directory.New(store, l, door, identity.Replay, c.now)
	return &hub{Directory: d, t: t, pool: pool, store: store, clock: c, lives: l}
}

func (h *hub) node() *directorytest.Node { return directorytest.NewNode(h.t, h.clock.now()) }

// register registers and lets a second pass, as between two runs of a node.
func (h *hub) register(n *directorytest.Node, r wire.Register) wire.Registered {
	h.t.Helper()
	ans, err := h.tryRegister(n, r)
	if err != nil {
		h.t.Fatal(err)
	}
	return ans
}

func (h *hub) tryRegister(n *directorytest.Node, r wire.Register) (wire.Registered, error) {
	h.clock.advance(time.Second)
	return h.Register(h.t.Context(), n.Apply(r), n.Proof(h.clock.now()))
}

// find asks ?cap= and gives the AIDs.
func (h *hub) find(value string) []string {
	h.t.Helper()
	q, err := directory.AskCap(value)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.list(q, directory.MaxPage)
}

func (h *hub) list(q directory.Question, limit int) (aids []string) {
	h.t.Helper()
	for cursor := ""; ; {
		p, err := h.List(h.t.Context(), q, limit, cursor, plenty)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, v := range viewsOf(h.t, p) {
			aids = append(aids, v.AID)
		}
		if cursor = p.Next; cursor == "" {
			return aids
		}
	}
}

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

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
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
