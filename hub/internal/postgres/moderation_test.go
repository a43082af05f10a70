package postgres

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
)

var alice = audit.By{Who: "alice", Why: "sends junk"}

func (h *hub) visitor(n *directorytest.Node) moderation.Visitor {
	return moderation.Visitor{AID: n.AID(), From: from, At: h.clock.now()}
}

var from = netip.MustParseAddr("203.0.113.7")

// operator acts with the reason of alice.
type operator struct {
	*Moderation
	h *hub
}

func (h *hub) operator() operator { return operator{NewModeration(h.pool), h} }

func (o operator) act(what, target string) audit.Act { return alice.Did(what, target, o.h.clock.now()) }

func (o operator) block(kind, text string, within time.Duration) error {
	o.h.t.Helper()
	target, err := moderation.ParseTarget(kind, text)
	if err != nil {
		o.h.t.Fatal(err)
	}
	b := moderation.Block{Target: target, Why: alice.Why, At: o.h.clock.now()}
	if within > 0 {
		b.Until = b.At.Add(within)
	}
	return o.Block(o.h.t.Context(), b, o.act("block.add", target.String()))
}

func (o operator) unblock(kind, text string) error {
	target, _ := moderation.ParseTarget(kind, text)
	return o.Unblock(o.h.t.Context(), target, o.act("block.remove", target.String()))
}

// acts are what the audit log holds, the oldest first.
func (o operator) acts() (all []string) {
	o.h.t.Helper()
	acts, err := NewAudit(o.h.pool).Acts(o.h.t.Context(), audit.Question{Limit: 100})
	if err != nil {
		o.h.t.Fatal(err)
	}
	for _, a := range slices.Backward(acts) {
		all = append(all, a.What+" "+a.Target)
	}
	return all
}

// known is the proof of a request whose signature was checked under the history
// on record.
func (h *hub) known(n *directorytest.Node) replay.Proof {
	p := n.Proof(h.clock.now())
	p.From = from
	return p
}

// A block by whatever spelling refuses everything, lists nobody, takes no mail;
// and when it is lifted all is as it was, mail and repeated registration included.
func TestABlockAndItsEnd(t *testing.T) {
	for _, c := range []struct {
		why    string
		kind   string
		target func(n *directorytest.Node) string
		lists  bool // whether lists still show it
		end    func(h *hub, o operator, kind, target string) error
	}{
		{"by its AID", "aid", (*directorytest.Node).AID, false, lift},
		{"by its AID, for a day", "aid", (*directorytest.Node).AID, false, wait},
		{"by its address", "host", func(*directorytest.Node) string { return "::ffff:203.0.113.7" }, true, lift},
		{"by a range, for a day", "host", func(*directorytest.Node) string { return "203.0.113.0/24" }, true, wait},
	} {
		t.Run(c.why, func(t *testing.T) {
			h := newHub(t)
			o, p := h.operator(), h.sweeping()
			n, other := h.node(), h.node()
			r := n.Register("n", "digest")
			r.A2ACard = n.Card(1, h.clock.now(), "n", "text.digest")
			h.register(n, r)
			h.register(other, other.Register("other", "digest"))
			h.mail(n)
			before := h.shows(n)
			target := c.target(n)
			if err := o.block(c.kind, target, 24*time.Hour); err != nil {
				t.Fatal(err)
			}
			wantReason(t, "blocking twice", o.block(c.kind, target, 0), "blocked_already")
			for what, err := range h.everything(n, other) {
				wantReason(t, what, err, "blocked")
			}
			if got := h.shows(n); got.listed != c.lists || got.open != c.lists || got.indexed > 0 != c.lists {
				t.Errorf("meanwhile: %+v", got)
			}
			if err := c.end(h, o, c.kind, target); err != nil {
				t.Fatal(err)
			}
			for what, err := range h.everything(n, other) {
				wantReason(t, what, err, "")
			}
			if err := p.lift(); err != nil {
				t.Fatal(err)
			}
			if got := h.shows(n); got != before {
				t.Errorf("afterwards: %+v, want %+v", got, before)
			}
			if ans := h.register(n, r); ans.Unchanged != 2 || ans.Added != 0 {
				t.Errorf("registering afterwards: %+v", ans)
			}
		})
	}
}

func lift(_ *hub, o operator, kind, target string) error { return o.unblock(kind, target) }

func wait(h *hub, _ operator, _, _ string) error {
	h.clock.advance(24 * time.Hour)
	return nil
}

// everything is what an agent may ask for, with what became of it.
func (h *hub) everything(n, other *directorytest.Node) map[string]error {
	ctx := h.t.Context()
	mail := NewRelay(h.pool, newReplay(h.pool, h.clock))
	_, standing := h.Standing(ctx, h.visitor(n))
	_, signer := h.store.SignerKEL(ctx, h.visitor(n))
	_, poll := mail.Poll(ctx, h.known(n), relay.Look{AID: n.AID(), Limit: 1})
	_, _, ack := mail.Ack(ctx, h.known(n), nil)
	_, send := mail.Enqueue(ctx, h.known(n), relay.Mail{To: other.AID(), Envelope: []byte{0}, At: h.clock.now()}, roomy)
	_, register := h.Register(ctx, n.Apply(n.Register("n", "digest")), h.known(n))
	return map[string]error{
		"a look at the standing": standing, "its history": signer, "a poll": poll, "an acknowledgement": ack, "a send": send,
		"a profile": h.SetProfile(ctx, h.known(n), directory.Profile{}), "the same registration": h.Repeat(ctx, h.known(n), directory.Standing{}),
		"another registration": register,
	}
}

// shown is where an agent stands.
type shown struct {
	listed, carded, open bool
	indexed              int
	counted              int64
	mail                 int
}

func (h *hub) shows(n *directorytest.Node) (s shown) {
	h.t.Helper()
	q, _ := directory.AskText("")
	s.listed = slices.Contains(h.find("digest"), n.AID()) && slices.Contains(h.find("*"), n.AID()) && slices.Contains(h.list(q, 10), n.AID())
	s.carded = slices.Contains(h.cards(), n.AID())
	s.open, s.indexed = h.openMailbox(n.AID()), h.indexRows(n)
	stats, err := h.Stats(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	s.counted = stats.Agents
	if err := h.pool.QueryRow(h.t.Context(), `SELECT count(*) FROM message WHERE to_aid = $1`, n.AID()).Scan(&s.mail); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// mail puts a message into an agent's mailbox.
func (h *hub) mail(n *directorytest.Node) {
	h.t.Helper()
	if _, err := h.pool.Exec(h.t.Context(), `
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		SELECT aid, last_id + 1, 1, '2026-01-01Z', '\x00' FROM mailbox WHERE aid = $1`, n.AID()); err != nil {
		h.t.Fatal(err)
	}
}

// Two processes on one database: what was blocked beside both is refused by
// both, without a word between them.
func TestABlockHoldsAtEveryProcessFromItsCommitOn(t *testing.T) {
	h := newHub(t)
	o, n := h.operator(), h.node()
	h.register(n, n.Register("n", "x"))
	other, err := pgxpool.New(t.Context(), h.pool.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	processes := []*Relay{NewRelay(h.pool, newReplay(h.pool, h.clock)), NewRelay(other, newReplay(other, h.clock))}
	poll := func(want string) {
		t.Helper()
		for i, p := range processes {
			_, err := p.Poll(t.Context(), h.known(n), relay.Look{AID: n.AID(), Limit: 1})
			wantReason(t, []string{"one", "the other"}[i], err, want)
		}
	}
	for range 3 {
		poll("")
		if err := o.block("aid", n.AID(), 0); err != nil {
			t.Fatal(err)
		}
		poll("blocked")
		if err := o.unblock("aid", n.AID()); err != nil {
			t.Fatal(err)
		}
	}
	poll("")
}

// A block is of an AID, not of its registration.
func TestABlockIsNotEndedByLeavingOrComing(t *testing.T) {
	h := newHub(t)
	o, p := h.operator(), h.sweeping()
	n, stranger := h.node(), h.node()
	h.register(n, n.Register("n", "x"))
	if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
		t.Fatal(err)
	}
	for _, who := range []*directorytest.Node{n, stranger} {
		if err := o.block("aid", who.AID(), time.Hour); err != nil {
			t.Fatal(err)
		}
		_, err := h.tryRegister(who, who.Register("n", "x"))
		wantReason(t, "coming", err, "blocked")
	}
	h.clock.advance(2 * time.Hour)
	h.register(stranger, stranger.Register("n", "x"))
	if err := p.lift(); err != nil {
		t.Fatal(err)
	}
	if got := h.find("x"); !slices.Equal(got, []string{stranger.AID()}) {
		t.Errorf("when the block has ended, x finds %v", got)
	}
}

// A first registration and the block of its AID at the same moment see nothing
// of each other; the sweep does.
func TestWhoIsShownInSpiteOfABlockIsFound(t *testing.T) {
	h := newHub(t)
	p, n := h.sweeping(), h.node()
	h.register(n, n.Register("n", "x"))
	if _, err := h.pool.Exec(t.Context(), `INSERT INTO block (aid, why, created_at) VALUES ($1, '', $2)`, n.AID(), h.clock.now()); err != nil {
		t.Fatal(err)
	}
	if err := p.lift(); err != nil {
		t.Fatal(err)
	}
	if got := h.find("x"); len(got) != 0 || h.openMailbox(n.AID()) {
		t.Errorf("afterwards x finds %v", got)
	}
}

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
	if all, err := h.Addresses(t.Context()); err != nil || len(all) != 1 || all[0].AID != seen.AID() {
		t.Errorf("addresses of %+v, %v, want of %s alone", all, err, seen.AID())
	}
}
