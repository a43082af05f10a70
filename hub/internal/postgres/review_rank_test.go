package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/liveness"
	"github.com/anet-hub/anet/shared/errs"
)

// Whatever is written at once, nobody is left at a place its reviews don't give:
// reviews, registrations that change and that don't, profiles, leaving, coming
// back, the sweep, and two who review each other.
func TestRanksHoldUnderParallelWriters(t *testing.T) {
	j := newJury(t)
	agents := make([]*directorytest.Node, 4)
	for i := range agents {
		agents[i] = j.member("x")
	}
	judge := j.member()
	ctx := context.Background()
	register := func(n *directorytest.Node, caps ...string) {
		if _, err := j.Register(ctx, n.Apply(n.Register("n", caps...)), n.Proof(j.clock.now())); err != nil {
			t.Error(err)
		}
	}
	together(12, func(worker int) {
		n, next := agents[worker%4], agents[(worker+1)%4]
		for i := range 15 {
			switch worker / 4 {
			case 0:
				if err := j.review(n, judge, 1+(worker+i)%5); err != nil {
					t.Error(err)
				}
			case 1:
				if err := j.review(n, next, 1+i%5); err != nil && !errs.Is(err, "reviewer_unknown") {
					t.Error(err)
				}
			default:
				j.disturb(n, i, register)
			}
		}
	})
	j.whole()
	for _, n := range agents {
		register(n, "x", "last")
	}
	j.whole()
	if got := len(j.find("last")); got != 4 {
		t.Errorf("%d agents are found at the end, want 4", got)
	}
}

// disturb is what else happens to an agent.
func (j *jury) disturb(n *directorytest.Node, i int, register func(*directorytest.Node, ...string)) {
	ctx := context.Background()
	switch i % 7 {
	case 0:
		register(n, "x", fmt.Sprint("y", i))
	case 1:
		register(n, "x")
	case 2:
		err := j.SetProfile(ctx, n.Proof(j.clock.now()), directory.Profile{Summary: fmt.Sprint(i)})
		if err != nil {
			j.t.Error(err)
		}
	case 3:
		if _, err := j.Deregister(ctx, n.Proof(j.clock.now())); err != nil {
			j.t.Error(err)
		}
	case 4:
		register(n, "x", "z")
	case 5: // everybody is away
		at := j.clock.now()
		if _, err := j.store.Sweep(ctx, liveness.Step{Before: at.Add(time.Hour), Now: at}); err != nil {
			j.t.Error(err)
		}
	case 6:
		if _, err := j.store.Stamp(ctx, map[string]time.Time{n.AID(): j.clock.now()}); err != nil {
			j.t.Error(err)
		}
	}
}

func TestJoinShowsWhoeverIsNamed(t *testing.T) {
	j := newJury(t)
	listed, unlisted, left := j.member("x"), j.member(), j.member("x")
	if _, err := j.Deregister(t.Context(), left.Proof(j.clock.now())); err != nil {
		t.Fatal(err)
	}
	page, err := j.List(t.Context(), directory.Question{}, 10, "", plenty)
	if err != nil {
		t.Fatal(err)
	}
	stranger := j.node().AID()
	shown, err := j.Join(t.Context(), &page, []string{listed.AID(), left.AID(), unlisted.AID(), left.AID(), stranger}, plenty)
	if err != nil || page.Count != 4 || !shown(left.AID()) || !shown(stranger) || shown("nobody") {
		t.Fatalf("%d nodes, %v", page.Count, err)
	}
	views := viewsOf(t, page)
	if !views[0].Registered || views[0].AID != listed.AID() || views[1].Registered || !views[1].Departed ||
		!views[2].Registered || views[2].Listed || views[3].Registered || views[3].Departed {
		t.Errorf("nodes %+v", views)
	}
	if page.Size() < len(page.AppendViews(nil)) {
		t.Errorf("the page takes %d bytes, more than the %d it said", len(page.AppendViews(nil)), page.Size())
	}
}

// Two are always shown, so that one edge is: a graph of agents with much to say
// comes to its end, too.
func TestJoinAlwaysShowsTwo(t *testing.T) {
	j := newJury(t)
	var aids []string
	for range 3 {
		n := j.node()
		r := n.Register("n", "x")
		r.Pricing = string(slices.Repeat([]byte("p"), 1<<10))
		for i := range 60 {
			r.Caps = append(r.Caps, fmt.Sprintf("%0250d", i))
		}
		j.register(n, r)
		aids = append(aids, n.AID())
	}
	page := directory.Page{}
	shown, err := j.Join(t.Context(), &page, aids, plenty)
	if err != nil || page.Count != 2 || !shown(aids[0]) || !shown(aids[1]) || shown(aids[2]) {
		t.Errorf("%d nodes, %v, want the first two", page.Count, err)
	}
}
