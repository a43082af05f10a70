package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/shared/wire"
)

// told is a hub that has peers.
type told struct {
	*hub
	*feed.Feed
	numberer *feed.Numberer
}

type always bool

func (a always) DiscoveryOn() bool { return bool(a) }

func newTold(t *testing.T) *told { return tell(newHub(t)) }

func tell(h *hub) *told {
	store := NewFeed(h.pool)
	return &told{h, feed.New(store, always(true)),
		feed.NewNumberer(store, h.store.Marked(), h.clock.now, slog.New(slog.DiscardHandler))}
}

// number does what the numberer does within a second.
func (f *told) number() {
	f.t.Helper()
	if err := f.numberer.Catch(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// page is one page as a peer reads it.
func (f *told) page(s feed.Stream, after int64) wire.FedCards {
	f.t.Helper()
	page, err := f.Cards(f.t.Context(), s, after, "https://hub.example.org", func(int64) error { return nil })
	if err != nil {
		f.t.Fatal(err)
	}
	return page
}

// read reads a stream to its end.
func (f *told) read(s feed.Stream, after int64) (all []wire.FedCard, cursor int64) {
	f.t.Helper()
	for {
		page := f.page(s, after)
		all = append(all, page.Cards...)
		if page.Cursor == after {
			return all, after
		}
		after = page.Cursor
	}
}

// about is what an entry says: of whom, and that it is told or why no longer.
func about(c wire.FedCard) string {
	if c.Format != wire.FormatWithdrawal {
		return "told"
	}
	var w wire.Withdrawal
	if err := json.Unmarshal(c.Card, &w); err != nil || w.Action != wire.ActionWithdraw {
		return fmt.Sprintf("no withdrawal: %s", c.Card)
	}
	return w.Reason
}

// federated is an agent with all that can be told of it.
func (f *told) federated() *directorytest.Node {
	f.t.Helper()
	n := f.node()
	f.register(n, f.full(n, 1))
	f.see(n, directory.Federated)
	return n
}

func (f *told) full(n *directorytest.Node, seq int64) wire.Register {
	r := n.Register("n", "tag")
	r.A2ACard, r.Card = n.Card(seq, f.clock.now(), "n", "skill"), n.ADPCard(uint64(seq), f.clock.now())
	r.EncKeys = n.Keyset(f.clock.now(), false)
	return r
}

func (f *told) see(n *directorytest.Node, v directory.Visibility) {
	f.t.Helper()
	f.clock.advance(time.Second)
	if err := f.SetVisibility(f.t.Context(), n.Proof(f.clock.now()), v); err != nil {
		f.t.Fatal(err)
	}
}

func (f *told) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// dirty is how many changes wait for their numbers.
func (f *told) dirty() (n int) {
	f.t.Helper()
	f.must(f.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM feed_dirty`).Scan(&n))
	return n
}

// Every change that peers are to hear of is at the head of the stream, and no other
// moves anything. Number 50.
func TestEveryChangeReachesPeers(t *testing.T) {
	f := newTold(t)
	n, o, p := f.node(), f.operator(), f.sweeping()
	r := f.full(n, 1)
	seq := int64(1)
	again := func() { f.register(n, r) }
	see := func(v directory.Visibility) func() { return func() { f.see(n, v) } }
	card := func() {
		seq++
		r.A2ACard = n.Card(seq, f.clock.now(), "n", "skill")
		again()
	}
	cursors := map[feed.Stream]int64{}
	for _, step := range []struct {
		why      string
		do       func()
		want, v1 string // what the streams say of it now; "" for nothing
		narrowed bool   // gone from pages before it has a number
	}{
		{why: "a registration stays in its hub", do: again},
		{why: "a profile, which no entry holds", do: func() { f.must(f.SetProfile(t.Context(), n.Proof(f.clock.now()), directory.Profile{Summary: "s"})) }},
		{why: "federated", do: see(directory.Federated), want: "told", v1: "told"},
		{why: "public, which is the same to peers", do: see(directory.Public)},
		{why: "the same registration", do: again},
		{why: "another name, which the card has not", do: func() { r.Name = "m"; again() }},
		{why: "a newer card", do: card, want: "told", v1: "told"},
		{why: "a newer older card", do: func() { r.Card = n.ADPCard(2, f.clock.now()); again() }, want: "told", v1: "told"},
		{why: "a newer key set, in a registration", do: func() { r.EncKeys = n.Keyset(f.clock.now(), true); again() }, want: "told", v1: "told"},
		{why: "the same key set, published", do: func() { f.must(f.putKeys(n, r.EncKeys)) }},
		{why: "a newer key set, published", do: func() { f.must(f.putKeys(n, n.Keyset(f.clock.now(), true))); r.EncKeys = nil }, want: "told", v1: "told"},
		{why: "a longer key history alone", do: func() { grow(t, n, f.clock.now()); r.KEL = n.Key.KEL(); again() }, want: "told", v1: "told"},
		{why: "a rotation that the card does not survive", do: func() { n.Rotate(f.clock.now()); r = n.Register("n", "tag"); again() }, want: "card_withdrawn", v1: "told"},
		{why: "a card by the new key", do: card, want: "told", v1: "told"},
		{why: "a card taken back", do: func() { r.A2ACard = wire.RawJSON("null"); again() }, want: "card_withdrawn", v1: "told"},
		{why: "a card once more", do: card, want: "told", v1: "told"},
		{why: "hidden", do: func() { f.must(o.Hide(t.Context(), o.act("agent.hide", n.AID()))) }, want: "not_listed", narrowed: true},
		{why: "no longer hidden", do: func() { f.must(o.Unhide(t.Context(), o.act("agent.unhide", n.AID()))) }, want: "told", v1: "told"},
		{why: "blocked", do: func() { f.must(o.block("aid", n.AID(), 0)) }, want: "not_listed", narrowed: true},
		{why: "no longer blocked", do: func() { f.must(o.unblock("aid", n.AID())) }, want: "told", v1: "told"},
		{why: "blocked for a day", do: func() { f.must(o.block("aid", n.AID(), 24*time.Hour)) }, want: "not_listed", narrowed: true},
		{why: "a day later", do: func() { f.clock.advance(25 * time.Hour); f.must(p.lift()) }, want: "told", v1: "told"},
		{why: "not heard of for long", do: func() { f.live(p, 31); f.tour(p) }, want: "not_listed", narrowed: true},
		{why: "heard of again", do: func() { f.seen(n) }, want: "told", v1: "told"},
		{why: "not heard of for long, once more", do: func() { f.live(p, 31); f.tour(p) }, want: "not_listed", narrowed: true},
		{why: "back by a registration", do: again, want: "told", v1: "told"},
		{why: "narrowed", do: see(directory.HubLocal), want: "visibility", narrowed: true},
		{why: "a newer card meanwhile", do: card},
		{why: "widened", do: see(directory.Federated), want: "told", v1: "told"},
		{why: "left", do: func() { _, err := f.Deregister(t.Context(), n.Proof(f.clock.now())); f.must(err) }, want: "left", narrowed: true},
		{why: "came back, into its hub", do: func() { r.Card = n.ADPCard(3, f.clock.now()); card() }},
		{why: "federated again", do: see(directory.Federated), want: "told", v1: "told"},
		{why: "removed by the operator", do: func() { _, err := o.Remove(t.Context(), o.act("agent.remove", n.AID())); f.must(err) }, want: "left", narrowed: true},
	} {
		f.clock.advance(time.Second)
		step.do()
		if step.narrowed {
			if all, _ := f.read(feed.Cards, 0); slices.ContainsFunc(all, func(c wire.FedCard) bool { return about(c) == "told" }) {
				t.Errorf("%s: told until it has a number", step.why)
			}
		}
		f.holds(step.why)
		if n := f.dirty(); n > 0 != (step.want != "") {
			t.Errorf("%s: %d marks, want some: %v", step.why, n, step.want != "")
		}
		f.number()
		for s, want := range map[feed.Stream]string{feed.Cards: step.want, feed.OlderCards: step.v1} {
			news, cursor := f.read(s, cursors[s])
			var says []string
			for _, c := range news {
				says = append(says, about(c))
			}
			if want == "" && len(says) > 0 || want != "" && !slices.Equal(says, []string{want}) {
				t.Errorf("%s: stream %d says %q, want %q", step.why, s, says, want)
			}
			cursors[s] = cursor
		}
		f.holds(step.why)
		if all, _ := f.read(feed.Cards, 0); len(all) > 1 {
			t.Errorf("%s: %d entries of one agent", step.why, len(all))
		}
	}
	if all, _ := f.read(feed.Cards, 0); len(all) != 1 || about(all[0]) != "left" {
		t.Errorf("a peer that begins anew hears %v, want the withdrawal", all)
	}
}

// holds asks what looks at restored backups.
func (f *told) holds(why string) {
	f.t.Helper()
	wrong, err := NewIntegrity(f.pool, func(string) {}).references(f.t.Context())
	if err != nil || len(wrong) > 0 {
		f.t.Errorf("%s: %v %v", why, wrong, err)
	}
}

// What a backup's check finds of entries that are not what they should be.
func TestIntegrityOfTheStreams(t *testing.T) {
	f := newTold(t)
	f.federated()
	f.number()
	for _, c := range []struct{ why, broken, mend string }{
		{"an entry is missing", `DELETE FROM feed WHERE stream = 2`, `INSERT INTO feed_dirty (aid) SELECT aid FROM agent`},
		{"an entry of nobody", `INSERT INTO feed (stream, aid, fed_seq, at, size) VALUES (2, 'b', 1000, 'epoch', 1); UPDATE feed_head SET seq = 1000`, `DELETE FROM feed WHERE aid = 'b'`},
		{"a number to come", `UPDATE feed_head SET seq = 0`, `UPDATE feed_head SET seq = 2000`},
	} {
		if _, err := f.pool.Exec(t.Context(), c.broken); err != nil {
			t.Fatal(err)
		}
		if wrong, err := NewIntegrity(f.pool, func(string) {}).references(t.Context()); err != nil || len(wrong) != 1 {
			t.Errorf("%s: %q, %v; want one finding", c.why, wrong, err)
		}
		if _, err := f.pool.Exec(t.Context(), c.mend); err != nil {
			t.Fatal(err)
		}
		f.number()
		f.holds(c.why + ", mended")
	}
}

// An entry is what the agent registered, to the byte.
func TestAnEntryHoldsWhatWasRegistered(t *testing.T) {
	f := newTold(t)
	n := f.node()
	r := f.full(n, 1)
	f.register(n, r)
	f.see(n, directory.Public)
	f.number()
	for s, card := range map[feed.Stream][]byte{feed.Cards: r.A2ACard, feed.OlderCards: r.Card} {
		all, cursor := f.read(s, 0)
		if len(all) != 1 {
			t.Fatalf("stream %d has %d entries, want 1", s, len(all))
		}
		c := all[0]
		if !bytes.Equal(c.Card, card) || !bytes.Equal(c.KEL, r.KEL) || !bytes.Equal(c.Keys, r.EncKeys) ||
			c.Home != "https://hub.example.org" || c.FedSeq != cursor || (s == feed.Cards) != (c.Format == wire.FormatA2ACard) {
			t.Errorf("stream %d: %+v", s, c)
		}
	}
}

func (f *told) putKeys(n *directorytest.Node, keyset []byte) error {
	f.clock.advance(time.Second)
	_, err := f.PutKeys(f.t.Context(), n.Proof(f.clock.now()), keyset)
	return err
}

// An agent without a card is in no stream, and one that was never told of is never
// taken back.
func TestWhoIsNeverTold(t *testing.T) {
	f := newTold(t)
	bare := f.node()
	f.register(bare, bare.Register("bare", "tag"))
	f.see(bare, directory.Federated)
	f.number()
	f.see(bare, directory.HubLocal)
	f.number()
	for _, s := range []feed.Stream{feed.Cards, feed.OlderCards} {
		if all, cursor := f.read(s, 0); len(all) != 0 || cursor != 0 {
			t.Errorf("stream %d: %v at %d, want nothing at 0", s, all, cursor)
		}
	}
}
