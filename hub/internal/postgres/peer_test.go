package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

var peersAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// peerTable is a table with peers named as given, added one after the other.
func peerTable(t *testing.T, names ...string) *Peers {
	t.Helper()
	s := NewPeers(pgtest.New(t))
	for _, name := range names {
		p := peers.Peer{AID: "aid-" + name, Endpoint: "https://" + name, Name: name, Delivery: true, Discovery: true}
		if err := s.Add(t.Context(), p, did("peer.add")); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func did(what string) audit.Act {
	return audit.By{Who: "me", How: "test"}.Did(what, "target", peersAt)
}

func (s *Peers) named(t *testing.T, name string) peers.Standing {
	t.Helper()
	list, err := s.Standings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no peer %s", name)
	return peers.Standing{}
}

func TestPeersStandInTheirOrder(t *testing.T) {
	s := peerTable(t, "one", "two", "three")
	if err := s.Remove(t.Context(), s.named(t, "two").ID, false, did("peer.remove")); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), peers.Peer{AID: "aid-two", Endpoint: "https://two", Name: "two", KEL: []byte("kel")}, did("peer.add")); err != nil {
		t.Fatal(err)
	}
	list, err := s.Peers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, p := range list {
		order = append(order, p.Name)
	}
	if len(order) != 3 || order[0] != "one" || order[1] != "three" || order[2] != "two" {
		t.Errorf("the order is %v", order)
	}
	two := list[2]
	if two.ID != 4 || !two.Proven() || two.Delivery || two.Discovery || list[0].Proven() || !list[0].Delivery {
		t.Errorf("it reads back as %+v and %+v", two, list[0])
	}
	if got := s.named(t, "two"); !got.ProvedAt.Equal(peersAt) || !got.LastSuccess.Equal(peersAt) || !got.AddedAt.Equal(peersAt) {
		t.Errorf("one that was met reads back as %+v", got)
	}
}

func TestPeersAreUnique(t *testing.T) {
	s := peerTable(t, "one")
	tests := []struct {
		p      peers.Peer
		reason string
	}{
		{peers.Peer{AID: "aid-one", Endpoint: "https://x", Name: "x"}, "peer_known"},
		{peers.Peer{AID: "x", Endpoint: "https://one", Name: "x"}, "peer_endpoint_taken"},
		{peers.Peer{AID: "x", Endpoint: "https://x", Name: "one"}, "peer_name_taken"},
	}
	for _, tt := range tests {
		if err := s.Add(t.Context(), tt.p, did("peer.add")); !errs.Is(err, tt.reason) || errs.KindOf(err) != errs.Conflict {
			t.Errorf("%+v: %v, want %s", tt.p, err, tt.reason)
		}
	}
	if acts, err := NewAudit(s.pool).Acts(t.Context(), audit.Question{Limit: 9}); err != nil || len(acts) != 1 {
		t.Errorf("%d acts are written down, %v", len(acts), err)
	}
}

// The stamp says of every change that processes have to know, and of no other.
func TestPeersStamp(t *testing.T) {
	s := peerTable(t, "one", "two")
	one := s.named(t, "one")
	change := func(do func(*peers.Peer)) func() error {
		return func() error {
			return s.Change(t.Context(), one.ID, did("peer.set"), func(p *peers.Peer) error { do(p); return nil })
		}
	}
	prove := func(was, kel string) func() error {
		return func() error {
			p := one.Peer
			if was != "" {
				p.KEL = []byte(was)
			}
			return s.Proved(t.Context(), p, []byte(kel), peersAt, peersAt)
		}
	}
	refuse := func(f peers.Failure) func() error {
		return func() error { return s.Refused(t.Context(), one.ID, peersAt, f) }
	}
	tests := []struct {
		says    string
		changes bool
		do      func() error
	}{
		{"nothing", false, func() error { return nil }},
		{"a pause", true, change(func(p *peers.Peer) { p.Paused = true })},
		{"its end", true, change(func(p *peers.Peer) { p.Paused = false })},
		{"a name", true, change(func(p *peers.Peer) { p.Name = "uno" })},
		{"a proof", true, prove("", "kel")},
		{"the same again", false, prove("kel", "kel")},
		{"a rotation", true, prove("kel", "kel+")},
		{"a proof of what is no more", false, prove("kel", "kel-")},
		{"another hub in its place", true, refuse(peers.Failure{Code: "astray", Astray: true})},
		{"still", false, refuse(peers.Failure{Code: "astray", Astray: true})},
		{"a failure meanwhile", false, refuse(peers.Failure{Code: "code"})},
		{"its return", true, prove("kel+", "kel+")},
		{"a failure", false, refuse(peers.Failure{Code: "code", Why: "words"})},
		{"a peer that goes", true, func() error { return s.Remove(t.Context(), s.named(t, "two").ID, false, did("peer.remove")) }},
	}
	for _, tt := range tests {
		before, _ := s.Stamp(t.Context())
		if err := tt.do(); err != nil {
			t.Fatalf("%s: %v", tt.says, err)
		}
		after, err := s.Stamp(t.Context())
		if err != nil || (before != after) != tt.changes {
			t.Errorf("%s changes the stamp: %v, %v", tt.says, before != after, err)
		}
	}
	if got := s.named(t, "uno"); string(got.KEL) != "kel+" || got.Astray || got.Refusal != "code" || got.RefusalWhy != "words" || !got.LastRefused.Equal(peersAt) {
		t.Errorf("it reads back as %+v", got)
	}
}

func TestPeersChangeNobody(t *testing.T) {
	s := peerTable(t)
	if err := s.Remove(t.Context(), 1, false, did("peer.remove")); !errs.Is(err, "peer_unknown") {
		t.Errorf("remove: %v", err)
	}
	if err := s.Change(t.Context(), 1, did("peer.set"), func(*peers.Peer) error { return nil }); !errs.Is(err, "peer_unknown") {
		t.Errorf("change: %v", err)
	}
	if acts, err := NewAudit(s.pool).Acts(t.Context(), audit.Question{Limit: 9}); err != nil || len(acts) != 0 {
		t.Errorf("%d acts are written down, %v", len(acts), err)
	}
}

// Whoever asks first has a peer, until its next try.
func TestPeersAreClaimedOnce(t *testing.T) {
	s := peerTable(t, "one", "two")
	due := func(after time.Duration) (names string) {
		for {
			now := peersAt.Add(after)
			p, ok, err := s.Due(t.Context(), now, now.Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return names
			}
			names += p.Name + " "
		}
	}
	tests := []struct {
		says  string
		do    func(context.Context) error
		after time.Duration
		want  string
	}{
		{"new ones at once", nil, 0, "one two "},
		{"and not again", nil, time.Minute - 1, ""},
		{"but after a minute", nil, time.Minute, "one two "},
		{"a doubt waits for the minute", func(ctx context.Context) error {
			return s.Sooner(ctx, "aid-one", peersAt.Add(90*time.Second), time.Minute)
		}, 119 * time.Second, ""},
		{"one that is proven has time", func(ctx context.Context) error {
			return s.Proved(ctx, s.named(t, "one").Peer, []byte("kel"), peersAt.Add(2*time.Minute), peersAt.Add(7*time.Minute))
		}, 2 * time.Minute, "two "},
		{"unless there is a doubt", func(ctx context.Context) error {
			return s.Sooner(ctx, "aid-one", peersAt.Add(150*time.Second), time.Minute)
		}, 150 * time.Second, "one "},
		{"a paused one has none", func(ctx context.Context) error {
			return s.Change(ctx, s.named(t, "two").ID, did("peer.pause"), func(p *peers.Peer) error { p.Paused = true; return nil })
		}, time.Hour, "one "},
		{"a clock that ran ahead holds nothing up", nil, 0, "one "},
	}
	for _, tt := range tests {
		if tt.do != nil {
			if err := tt.do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := due(tt.after); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.says, got, tt.want)
		}
	}
}

// Whoever was taken out and comes back is not trusted with credits as before.
func TestRemovingAPeerEndsPaymentsAcrossWithIt(t *testing.T) {
	s := peerTable(t, "one", "two")
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO clearing (aid, is_open, most) VALUES ('aid-one', true, 100), ('aid-two', true, 100)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), s.named(t, "two").ID, false, did("peer.remove")); err != nil {
		t.Fatal(err)
	}
	debts, err := NewLedger(s.pool, nil).Debts(t.Context())
	if err != nil || len(debts) != 2 || !debts[0].Open || debts[1].Open {
		t.Errorf("it left %+v, %v, want payments across with the one that stayed", debts, err)
	}
}

// Credits that are owed either way can be cleared with a peer alone: it does not go
// unnoticed with them, and nothing of it is forgotten by the attempt.
func TestAPeerInDebtStays(t *testing.T) {
	for _, c := range []struct {
		why     string
		clears  string
		refused bool
	}{
		{"one that owes", `VALUES ('aid-two', true, 100, 30, 0)`, true},
		{"one that is owed, and cleared with no more", `VALUES ('aid-two', false, 0, 0, 12)`, true},
		{"one whose debts are cleared", `VALUES ('aid-two', true, 100, 0, 0)`, false},
		{"one beside another that owes", `VALUES ('aid-one', true, 100, 30, 0)`, false},
	} {
		s := peerTable(t, "one", "two")
		if _, err := s.pool.Exec(t.Context(), `INSERT INTO clearing (aid, is_open, most, owed, due) `+c.clears); err != nil {
			t.Fatal(err)
		}
		two := s.named(t, "two")
		err := s.Remove(t.Context(), two.ID, false, did("peer.remove"))
		if errs.Is(err, "peer_in_debt") != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if !c.refused {
			continue
		}
		s.named(t, "two")
		if err := s.Remove(t.Context(), two.ID, true, did("peer.remove")); err != nil {
			t.Errorf("%s, its debt left: %v", c.why, err)
		}
		acts, err := NewAudit(s.pool).Acts(t.Context(), audit.Question{Limit: 9})
		if err != nil || len(acts) != 3 || acts[0].Detail["owed"] == nil || acts[0].Detail["due"] == nil {
			t.Errorf("%s: on record %+v, %v, want the sums in the last", c.why, acts, err)
		}
	}
}
