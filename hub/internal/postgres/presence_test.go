package postgres

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/liveness"
)

const day = 24 * time.Hour

// presence judges like a hub process.
type presence struct{ *liveness.Presence }

func (presence) Seen(string, time.Time) {}
func (presence) Forget(string)          {}

// sweeping is the part of a hub process that sweeps.
type sweeping struct {
	*liveness.Presence
	*liveness.Sweeper
	lift func() error
}

func (h *hub) sweeping() sweeping {
	h.t.Helper()
	log := slog.New(slog.DiscardHandler)
	p := presence{liveness.NewPresence(h.store, directory.UsualAges, h.clock.now, log)}
	if err := p.Beat(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.lives.Lives = p
	return sweeping{lift: func() error { return h.store.Lift(h.t.Context(), h.clock.now()) }, Presence: p.Presence, Sweeper: liveness.NewSweeper(h.store, p.Presence, liveness.NewCounts(prometheus.NewRegistry()), h.clock.now, log)}
}

// tour sweeps until the tour is over.
func (h *hub) tour(p sweeping) (all liveness.Swept) {
	h.t.Helper()
	for !all.Done {
		s, err := p.Step(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		all.Hidden, all.Back, all.Done = all.Hidden+s.Hidden, all.Back+s.Back, s.Done
	}
	return all
}

// live lets days pass in which the hub is up.
func (h *hub) live(p sweeping, days int) {
	h.t.Helper()
	h.clock.advance(time.Duration(days) * day)
	_, err := h.pool.Exec(h.t.Context(), `UPDATE hub_presence SET beat_at = $1`, h.clock.now().Add(-time.Minute))
	if err == nil {
		err = p.Beat(h.t.Context())
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hub) indexRows(n *directorytest.Node) (rows int) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), `SELECT count(*) FROM agent_cap WHERE aid = $1`, n.AID()).Scan(&rows); err != nil {
		h.t.Fatal(err)
	}
	return rows
}

// The whole of an agent's way out of the lists and back, each way back once.
func TestWhoIsAwayIsInNoIndexUntilItIsHeardOf(t *testing.T) {
	h := newHub(t)
	p := h.sweeping()
	other := h.node()
	h.register(other, other.Register("other", "x"))
	for why, back := range map[string]func(n *directorytest.Node){
		"a poll": func(n *directorytest.Node) {
			if back, err := h.store.Stamp(t.Context(), map[string]time.Time{n.AID(): h.clock.now()}); err != nil || back != 1 {
				t.Errorf("%d came back, %v, want 1", back, err)
			}
		},
		"the same registration": func(n *directorytest.Node) {
			if err := h.Repeat(t.Context(), n.Proof(h.clock.now()), directory.Standing{}); err != nil {
				t.Fatal(err)
			}
		},
		"another registration": func(n *directorytest.Node) {
			if ans := h.register(n, n.Register("n", "x", "y", "z")); ans.Added != 1 || ans.Unchanged != 3 {
				t.Errorf("it is told %+v", ans)
			}
		},
	} {
		n := h.node()
		r := n.Register("n", "x", "y")
		r.A2ACard = n.Card(1, h.clock.now(), "n", "skill")
		h.register(n, r)
		h.live(p, 29)
		h.seen(other)
		if s := h.tour(p); s.Hidden != 0 {
			t.Fatalf("%s: %d are hidden after 29 days", why, s.Hidden)
		}
		h.live(p, 1)
		if got := h.find("y"); len(got) != 0 || h.indexRows(n) != 4 {
			t.Errorf("%s: due and not swept yet, lists show %v, index rows %d", why, got, h.indexRows(n))
		}
		if s := h.tour(p); s.Hidden != 1 || h.indexRows(n) != 0 {
			t.Errorf("%s: %+v, %d rows in the index, want 1 hidden and none", why, s, h.indexRows(n))
		}
		if s, _ := h.Stats(t.Context()); s.Agents != 1 {
			t.Errorf("%s: %d agents are counted", why, s.Agents)
		}
		if v, _, err := h.Show(t.Context(), n.AID()); err != nil || !v.Registered || !v.Quiet || len(v.Caps) != 3 {
			t.Errorf("%s: asked for by AID: %+v, %v", why, v, err)
		}
		if err := h.SetProfile(t.Context(), n.Proof(h.clock.now()), directory.Profile{Summary: why}); err != nil || h.indexRows(n) != 0 {
			t.Errorf("%s: a profile is no poll, and made %d rows, %v", why, h.indexRows(n), err)
		}
		back(n)
		if got := h.find("y"); !slices.Equal(got, []string{n.AID()}) || h.indexRows(n) < 4 || len(h.cards()) != 1 {
			t.Errorf("%s: afterwards y finds %v, cards %v", why, got, h.cards())
		}
		if s, _ := h.Stats(t.Context()); s.Agents != 2 {
			t.Errorf("%s: afterwards %d agents are counted", why, s.Agents)
		}
		if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *hub) seen(n *directorytest.Node) {
	h.t.Helper()
	if _, err := h.store.Stamp(h.t.Context(), map[string]time.Time{n.AID(): h.clock.now()}); err != nil {
		h.t.Fatal(err)
	}
}

// The age of an agent does not grow while the hub is away.
func TestAnAbsenceOfTheHubHidesNobody(t *testing.T) {
	h := newHub(t)
	p := h.sweeping()
	n := h.node()
	h.register(n, n.Register("n", "x"))
	h.live(p, 20)
	h.clock.advance(40 * day)
	p = h.sweeping()
	if s := h.tour(p); s.Hidden != 0 || len(h.find("x")) != 1 {
		t.Errorf("the hub is just back: %+v, x finds %v", s, h.find("x"))
	}
	h.live(p, 9)
	if s := h.tour(p); s.Hidden != 0 || len(h.find("x")) != 1 {
		t.Errorf("after 29 days in which the hub was up: %+v, x finds %v", s, h.find("x"))
	}
	h.clock.advance(20 * day)
	p = h.sweeping()
	h.live(p, 2)
	if got := h.find("x"); len(got) != 0 {
		t.Errorf("after 31 days in which it was up, x finds %v", got)
	}
	if s := h.tour(p); s.Hidden != 1 {
		t.Errorf("after 31 days in which it was up: %+v", s)
	}
}

// A restart is no absence, and any process of several stands for the hub.
func TestOneProcessIsEnoughToBeThere(t *testing.T) {
	h := newHub(t)
	one, two := h.sweeping(), h.sweeping()
	h.live(one, 1)
	h.live(two, 1)
	h.live(one, 1)
	var absences int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM hub_absence`).Scan(&absences); err != nil || absences != 0 {
		t.Errorf("%d absences, %v", absences, err)
	}
}

// Processes share one tour: what one begins, another goes on with, and none
// begins a second one beside it.
func TestProcessesShareATour(t *testing.T) {
	h := newHub(t)
	one, two := h.sweeping(), h.sweeping()
	const agents = 2*tourStep + 10
	seed(t, h.pool, agents)
	h.live(one, 60)
	h.live(two, 0)
	for i, p := range []sweeping{one, two, one, two} {
		want := []int{tourStep, tourStep, 10, 0}[i]
		if s, err := p.Step(t.Context()); err != nil || s.Hidden != want || s.Done != (i >= 2) {
			t.Errorf("step %d: %+v, %v, want %d hidden", i, s, err, want)
		}
	}
	var rows int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM agent_cap`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows are left in the index, %v", rows, err)
	}
	h.live(one, 1)
	if s := h.tour(one); s.Hidden != 0 {
		t.Errorf("another tour hides %d", s.Hidden)
	}
}

// A step that another process is at is not waited for.
func TestAStepIsTakenByOneProcess(t *testing.T) {
	h := newHub(t)
	p := h.sweeping()
	n := h.node()
	h.register(n, n.Register("n", "x"))
	h.live(p, 31)
	tx, err := h.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1)`, lockTour); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Step(t.Context()); err != nil || s.Hidden != 0 || !s.Done {
		t.Errorf("beside another process: %+v, %v", s, err)
	}
	_ = tx.Rollback(t.Context()) // it was killed
	if s, err := p.Step(t.Context()); err != nil || s.Hidden != 1 {
		t.Errorf("after the other was killed: %+v, %v", s, err)
	}
}

// A kill between the stamp and the way back leaves somebody who polled out of
// the lists until the next tour.
func TestTheTourBringsBackWhoWasForgotten(t *testing.T) {
	h := newHub(t)
	p := h.sweeping()
	n := h.node()
	h.register(n, n.Register("n", "x"))
	h.live(p, 31)
	h.tour(p)
	if _, err := h.pool.Exec(t.Context(), `UPDATE agent_seen SET last_seen = $1`, h.clock.now()); err != nil {
		t.Fatal(err)
	}
	h.live(p, 1)
	if s := h.tour(p); s.Back != 1 || len(h.find("x")) != 1 {
		t.Errorf("%+v, x finds %v", s, h.find("x"))
	}
}

// A review of somebody who is away moves nothing into the lists, and its place is
// the new one when it is back.
func TestAReviewOfWhoIsAway(t *testing.T) {
	j := newJury(t)
	p := j.sweeping()
	provider, other, judge := j.member("x"), j.member("x"), j.member()
	j.live(p, 31)
	j.tour(p)
	j.seen(other)
	j.register(judge, judge.Register("judge"))
	j.mustReview(provider, judge, 5)
	if got := j.find("x"); !slices.Equal(got, []string{other.AID()}) || j.indexRows(provider) != 0 {
		t.Errorf("away: x finds %v", got)
	}
	j.seen(provider)
	if got := j.find("x"); !slices.Equal(got, []string{provider.AID(), other.AID()}) {
		t.Errorf("back: x finds %v, want the reviewed one first", got)
	}
}
