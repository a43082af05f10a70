package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/relay"
)

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
