package postgres

import (
	"net/netip"
	"slices"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
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

func (h *hub) cards() (aids []string) {
	h.t.Helper()
	st, err := h.store.Cards(h.t.Context(), directory.CardQuestion{}, "", 100, directory.MaxPageBytes)
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
