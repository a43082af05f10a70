package peers

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// ledger is the table of a database, in memory, for one or more provers.
type ledger struct {
	mu    sync.Mutex
	rows  []*row
	stamp int
}

type row struct {
	Peer
	tried, next time.Time
	success     time.Time
	refusal     string
}

func (l *ledger) Stamp(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(rune('a' + l.stamp)), nil
}

func (l *ledger) Peers(context.Context) (out []Peer, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		out = append(out, r.Peer)
	}
	return out, nil
}

func (l *ledger) Due(_ context.Context, now, again time.Time) (Peer, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		if !r.Paused && !now.Before(r.next) {
			r.tried, r.next = now, again
			return r.Peer, true, nil
		}
	}
	return Peer{}, false, nil
}

func (l *ledger) Sooner(_ context.Context, aid string, now time.Time, gap time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		at := r.tried.Add(gap)
		if at.Before(now) {
			at = now
		}
		if r.AID == aid && at.Before(r.next) {
			r.next = at
		}
	}
	return nil
}

func (l *ledger) Proved(_ context.Context, p Peer, kel []byte, now, next time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.of(p.ID); bytes.Equal(r.KEL, p.KEL) {
		if r.success, r.next = now, next; !bytes.Equal(r.KEL, kel) || r.Astray {
			r.KEL, r.Astray = kel, false
			l.stamp++
		}
	}
	return nil
}

func (l *ledger) Refused(_ context.Context, id int64, _ time.Time, f Failure) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(id)
	if r.refusal = f.Code; f.Astray && !r.Astray {
		r.Astray = true
		l.stamp++
	}
	return nil
}

func (l *ledger) of(id int64) *row { return l.rows[id-1] }

// look gives a row as it is.
func (l *ledger) look(r *row) row {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return *r
}

// world is the hubs there are, by address.
type world struct {
	mu    sync.Mutex
	hubs  map[string]*identity.Controller
	gone  map[string]error
	hangs map[string]bool
	asked map[string]int
}

func (w *world) Identity(ctx context.Context, endpoint string) (wire.Identity, error) {
	w.mu.Lock()
	w.asked[endpoint]++
	key, gone, hangs := w.hubs[endpoint], w.gone[endpoint], w.hangs[endpoint]
	w.mu.Unlock()
	if hangs {
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
		return wire.Identity{}, errTimeout
	}
	if gone != nil {
		return wire.Identity{}, gone
	}
	return saying(key), nil
}

// times gives how often a hub was asked since this was asked last.
func (w *world) times(endpoint string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.asked[endpoint]
	w.asked[endpoint] = 0
	return n
}

func (w *world) set(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

type process struct {
	*Prover
	table    *Table
	circuits *Circuits
}

// begin runs a process of the hub until the test ends.
func begin(t *testing.T, l *ledger, w *world) process {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	table, circuits := NewTable(l, Switches{}, log), NewCircuits(time.Now)
	if err := table.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := NewProver(ProverDeps{Store: l, Hubs: w, Table: table, Circuits: circuits, Now: time.Now, Log: log})
	go func() { _ = table.Run(t.Context()) }()
	go func() { _ = p.Run(t.Context()) }()
	return process{p, table, circuits}
}

func newWorld() *world {
	return &world{hubs: map[string]*identity.Controller{}, gone: map[string]error{}, hangs: map[string]bool{}, asked: map[string]int{}}
}

// enter puts a peer into the table.
func (l *ledger) enter(aid, endpoint string) *row {
	r := &row{Peer: Peer{ID: int64(len(l.rows)) + 1, AID: aid, Endpoint: endpoint, Name: endpoint, Delivery: true, Discovery: true}}
	l.rows = append(l.rows, r)
	return r
}

func TestProverProvesAndFollows(t *testing.T) {
	key := newKey(t)
	next := rotated(t, key)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["b"] = key
		r := l.enter(key.AID(), "b")
		one, two := begin(t, l, w), begin(t, l, w)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n, now := w.times("b"), l.look(r); n != 1 || !now.Proven() || now.success.IsZero() {
			t.Fatalf("two processes asked %d times; it is proven: %v", n, now.Proven())
		}
		if len(one.table.Delivering()) != 1 || len(two.table.Delivering()) != 1 {
			t.Error("a process does not know of it")
		}

		w.set(func() { w.hubs["b"] = next })
		one.Recheck(key.AID())
		one.Recheck("bafy-of-nobody")
		time.Sleep(proveAgain - 5*time.Second)
		if n := w.times("b"); n != 0 {
			t.Errorf("within a minute it was asked %d times more", n)
		}
		time.Sleep(7 * time.Second)
		if n := w.times("b"); n != 1 || !bytes.Equal(l.look(r).KEL, next.KEL()) {
			t.Errorf("a minute after the last try it was asked %d times", n)
		}
		for _, p := range []process{one, two} {
			if got, _ := p.table.ByAID(key.AID()); !bytes.Equal(got.KEL, next.KEL()) {
				t.Error("a process does not know the rotation")
			}
		}

		w.set(func() { w.hubs["b"] = key })
		time.Sleep(proveEvery + 5*time.Second)
		if n, now := w.times("b"), l.look(r); n < 1 || !bytes.Equal(now.KEL, next.KEL()) || now.refusal != "peer_history_shorter" {
			t.Errorf("a rollback was fetched %d times and met with %q", n, now.refusal)
		}
	})
}

func TestDoubtsAreBounded(t *testing.T) {
	key := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["b"] = key
		l.enter(key.AID(), "b")
		p, other := begin(t, l, w), begin(t, l, w)
		time.Sleep(10 * time.Minute)
		w.times("b")
		for range 600 {
			p.Recheck(key.AID())
			other.Recheck(key.AID())
			time.Sleep(time.Second)
		}
		if n := w.times("b"); n < 5 || n > 11 {
			t.Errorf("ten minutes of false signatures had it asked %d times", n)
		}
	})
}

func TestNothingIsPinnedUnproven(t *testing.T) {
	key, other := newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["b"] = other
		r := l.enter(key.AID(), "b")
		p := begin(t, l, w)
		time.Sleep(2 * time.Second)
		if now := l.look(r); now.Proven() || now.refusal != "peer_aid_differs" || len(p.table.Delivering()) > 0 {
			t.Fatalf("proven: %v, %q", now.Proven(), now.refusal)
		}
		w.set(func() { w.hubs["b"] = key })
		time.Sleep(proveAgain)
		if now := l.look(r); !now.Proven() || len(p.table.Delivering()) != 1 || p.circuits.State(r.ID).Open {
			t.Error("a minute later it is not proven")
		}
	})
}

// Another hub at a peer's address gets nothing from any process, whichever met it,
// until the peer is back.
func TestNothingGoesToAnotherHub(t *testing.T) {
	key, other := newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["b"] = key
		r := l.enter(key.AID(), "b")
		processes := []process{begin(t, l, w), begin(t, l, w)}
		everywhere := func(says string, reached bool) {
			t.Helper()
			l.look(r)
			for _, p := range processes {
				if got := len(p.table.Delivering()); got != len(p.table.Discovering()) || (got == 1) != reached {
					t.Errorf("%s: it is reached: %v, want %v", says, got == 1, reached)
				}
			}
		}
		time.Sleep(5 * time.Second)
		everywhere("proven", true)
		w.set(func() { w.hubs["b"] = other })
		time.Sleep(proveEvery + 5*time.Second)
		everywhere("another hub there", false)
		w.set(func() { w.gone["b"] = errTimeout })
		time.Sleep(proveEvery)
		everywhere("nobody there", false)
		w.set(func() { delete(w.gone, "b"); w.hubs["b"] = key })
		time.Sleep(proveAgain + 5*time.Second)
		everywhere("back", true)
	})
}

func TestPausedIsLeftAlone(t *testing.T) {
	key := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["b"] = key
		l.enter(key.AID(), "b").Paused = true
		begin(t, l, w)
		time.Sleep(time.Hour)
		if n := w.times("b"); n > 0 {
			t.Errorf("it was asked %d times", n)
		}
	})
}

// One that hangs is found out by one call, costs the others nothing, and is back
// within two minutes of its return.
func TestProverBringsBack(t *testing.T) {
	slowKey, goodKey := newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, w := &ledger{}, newWorld()
		w.hubs["slow"], w.hubs["good"] = slowKey, goodKey
		slowRow := l.enter(slowKey.AID(), "slow")
		l.enter(goodKey.AID(), "good")
		p := begin(t, l, w)
		time.Sleep(3 * time.Second)
		w.set(func() { w.hangs["slow"] = true })
		_ = p.circuits.Try(t.Context(), l.look(slowRow).Peer, failing(errTimeout))
		if !p.circuits.State(slowRow.ID).Open {
			t.Fatal("its circuit is closed")
		}
		time.Sleep(2 * time.Second)
		if now := l.look(slowRow); now.refusal != "answer_too_slow" {
			t.Errorf("an operator is told %q", now.refusal)
		}
		w.times("slow")
		time.Sleep(time.Hour)
		if n := w.times("slow"); n < 25 || n > 100 {
			t.Errorf("in an hour it was asked %d times", n)
		}
		if n := w.times("good"); n < 11 || n > 13 || p.circuits.State(2).Open {
			t.Errorf("the other one was asked %d times", n)
		}
		w.set(func() { w.hangs["slow"] = false })
		time.Sleep(retryLast + 11*time.Second)
		if p.circuits.State(slowRow.ID).Open {
			t.Error("it answers, and is left alone")
		}
	})
}
