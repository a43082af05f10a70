package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Whatever happens at once, and wherever a process is cut off, the lists show what
// follows from what stands in the tables, and in the end what peers tell.
func TestListsHoldTogetherWhateverComesAtOnce(t *testing.T) {
	l := newLearner(t, 3)
	nodes := make([]*directorytest.Node, 8)
	for i := range nodes {
		nodes[i] = l.node()
	}
	requester := l.node()
	l.register(requester, requester.Register("requester", "asks"))
	judges := reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)
	c := &chaos{learner: l, nodes: nodes, until: time.Now().Add(4 * time.Second), at: l.clock.now()}
	c.run(func(r *rand.Rand) { c.tells(r) })
	c.run(func(r *rand.Rand) { c.reads(r, l.process) })
	c.run(func(r *rand.Rand) { c.reads(r, l.process) })
	c.run(func(r *rand.Rand) { c.moves(r, nodes[:4]) })
	c.run(func(r *rand.Rand) { c.moves(r, nodes[2:6]) })
	c.run(func(r *rand.Rand) {
		j := &jury{l.hub, judges}
		c.allow(j.review(nodes[r.IntN(len(nodes))], requester, 1+r.IntN(5)))
	})
	c.run(func(r *rand.Rand) {
		_, _ = l.learns.List(t.Context(), l.list[r.IntN(3)].ID, r.IntN(2) == 0)
	})
	c.wait.Wait()
	for i := range l.list {
		for done := false; !done; {
			var err error
			if done, err = l.learns.List(t.Context(), l.list[i].ID, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.whole()
	for _, n := range nodes {
		_, err := l.Deregister(t.Context(), n.Proof(l.clock.now()))
		c.allow(err)
	}
	l.settle()
	l.whole()
	for i, n := range nodes {
		if c.told[i].now == 0 {
			continue
		}
		if v, _, err := l.Show(t.Context(), n.AID()); err != nil || v.Registered || v.HomeHub == "" {
			t.Errorf("agent %d, told by a peer and nowhere registered, is shown as %+v, %v", i, v, err)
		}
	}
}

// settle reads until nothing is new any more, and once from the beginning.
func (l *learner) settle() {
	for range 20 {
		l.pull()
	}
	l.judge()
}

// chaos does many things at once for a while.
type chaos struct {
	*learner
	nodes []*directorytest.Node
	until time.Time
	at    time.Time
	wait  sync.WaitGroup

	mu   sync.Mutex
	told [8]struct{ now, seq int64 } // who tells of an agent now, as bits
}

func (c *chaos) run(f func(r *rand.Rand)) {
	seed := rand.Uint64()
	c.wait.Go(func() {
		r := rand.New(rand.NewPCG(seed, 1))
		for time.Now().Before(c.until) {
			f(r)
		}
	})
}

// allow lets refusals pass and nothing else.
func (c *chaos) allow(err error) {
	if err != nil && errs.As(err) == nil && c.t.Context().Err() == nil {
		c.t.Error(err)
	}
}

// tells has peers tell of agents, newer and newer, and take that back.
func (c *chaos) tells(r *rand.Rand) {
	i, p := r.IntN(len(c.nodes)), r.IntN(3)
	c.mu.Lock()
	defer c.mu.Unlock()
	told := &c.told[i]
	if told.now&(1<<p) != 0 && r.IntN(3) == 0 {
		told.now &^= 1 << p
		c.peer(p+1).Withdraw(c.nodes[i].AID(), c.at)
		return
	}
	told.seq++
	// One hub tells the newest of it; the others would be refused for good.
	told.now = 1 << p
	for other := range 3 {
		if other != p {
			c.peer(other+1).Withdraw(c.nodes[i].AID(), c.at)
		}
	}
	c.peer(p+1).Agent(c.nodes[i], told.seq, c.at, "shared", []string{"a", "b", "c"}[r.IntN(3)])
	time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
}

// reads is a process that is cut off now and then, and begins anew.
func (c *chaos) reads(r *rand.Rand, process func() *learned.Puller) {
	c.clock.advance(3 * time.Minute)
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(1+r.IntN(60))*time.Millisecond)
	defer cancel()
	_ = process().Once(ctx)
}

// moves has an agent register here, change, and leave.
func (c *chaos) moves(r *rand.Rand, of []*directorytest.Node) {
	n := of[r.IntN(len(of))]
	if r.IntN(2) == 0 {
		_, err := c.Register(c.t.Context(), n.Apply(n.Register("n", "shared", []string{"a", "d"}[r.IntN(2)])), n.Proof(c.clock.now()))
		c.allow(err)
		return
	}
	_, err := c.Deregister(c.t.Context(), n.Proof(c.clock.now()))
	c.allow(err)
}

// Two processes that read the same page leave what one would have left, and one
// that is cut off in the middle of it leaves nothing.
func TestAPageCountsOnce(t *testing.T) {
	l := newLearner(t, 1)
	for range 30 {
		l.peer(1).Agent(l.node(), 1, l.clock.now(), "x")
	}
	l.clock.advance(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	_ = l.puller.Once(ctx)
	cancel()
	l.whole()
	l.clock.advance(2 * time.Minute) // its lease is over
	var both sync.WaitGroup
	for range 2 {
		p := l.process()
		both.Go(func() {
			for range 6 {
				if err := p.Once(t.Context()); err != nil {
					t.Error(err)
				}
				l.clock.advance(10 * time.Second)
			}
		})
	}
	both.Wait()
	if got := len(l.find("x")); got != 30 {
		t.Errorf("%d agents are learned, want 30", got)
	}
	if got := l.row(`SELECT agents::text FROM teacher`); got != "30" {
		t.Errorf("the peer taught %s agents", got)
	}
	if p := l.progress(1); p.Cursor != 30 || p.Entries != 30 || p.Stream != peers.Cards {
		t.Errorf("the stream stands at %+v", p)
	}
	l.whole()
}

// atOnce runs do while a transaction that began with first is open, and ends that
// when do waits for it.
func (l *learner) atOnce(first string, then string, args []any, do func() error) error {
	l.t.Helper()
	tx, err := l.pool.Begin(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(l.t.Context(), first, args...); err != nil {
		l.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	for l.row(`SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == "0" {
		select {
		case err := <-done:
			l.t.Fatalf("nothing waited: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if then != "" {
		if _, err := tx.Exec(l.t.Context(), then, args...); err != nil {
			l.t.Errorf("the one that was first: %v", err)
		}
	}
	if err := tx.Commit(l.t.Context()); err != nil {
		l.t.Error(err)
	}
	return <-done
}

// A peer may be removed while a process that does not know yet begins with it.
func TestWhoIsRemovedMeanwhileTeachesNothing(t *testing.T) {
	l := newLearner(t, 2)
	ids := []int64{l.list[0].ID, l.list[1].ID}
	err := l.atOnce(`DELETE FROM peer WHERE id = $1`, "", []any{ids[0]}, func() error {
		return l.learns.Enroll(t.Context(), ids, l.clock.now())
	})
	if got := l.row(`SELECT string_agg(peer_id::text, ' ') FROM teacher`); err != nil || got != fmt.Sprint(ids[1]) {
		t.Errorf("enrolled %s, %v", got, err)
	}
}

// What lists a peer's agents anew holds the peer's row and then agents. So does what
// forgets them: the other way round each would wait for the other.
func TestForgettingWaitsForATour(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	id := l.list[0].ID
	err := l.atOnce(`UPDATE teacher SET tour = '' WHERE peer_id = $1`,
		`SELECT pg_advisory_xact_lock(hashtextextended(aid, 63)) FROM learned WHERE peer_id = $1`, []any{id},
		func() error { return forget(t.Context(), l.pool, id, l.clock.now()) })
	if got := l.row(`SELECT count(*)::text FROM learned`); err != nil || got != "0" {
		t.Errorf("%s rows are left, %v", got, err)
	}
}
