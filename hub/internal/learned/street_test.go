package learned

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/identity"
)

// ledger is a store in memory: one row for each agent of a peer.
type ledger struct {
	Store
	mu      sync.Mutex
	pulls   map[string]*pull
	learned map[string]Record
	held    map[string]Held
	ended   map[string][]Outcome
}

type pull struct {
	Job
	next  time.Time
	taken bool
}

func newLedger() *ledger {
	return &ledger{pulls: map[string]*pull{}, learned: map[string]Record{}, held: map[string]Held{}, ended: map[string][]Outcome{}}
}

func keyOf(j Job) string { return fmt.Sprint(j.Peer, " ", j.Stream) }

func (l *ledger) Enroll(_ context.Context, ids []int64, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		for _, s := range []Stream{peers.Cards, peers.ADPCards, peers.Reviews} {
			j := Job{Peer: id, Stream: s, Pass: 1, Passing: true}
			if l.pulls[keyOf(j)] == nil {
				l.pulls[keyOf(j)] = &pull{Job: j, next: now}
			}
		}
	}
	return nil
}

func (l *ledger) Lease(_ context.Context, ids []int64, n int, now time.Time) (jobs []Job, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	busy := map[int64]bool{}
	for _, p := range l.pulls {
		busy[p.Peer] = busy[p.Peer] || p.taken
	}
	longest := func(a, b *pull) int { return a.next.Compare(b.next) }
	for _, p := range slices.SortedFunc(maps.Values(l.pulls), longest) {
		if len(jobs) < n && slices.Contains(ids, p.Peer) && !busy[p.Peer] && !p.next.After(now) {
			busy[p.Peer], p.taken = true, true
			jobs = append(jobs, p.Job)
		}
	}
	return jobs, nil
}

func (l *ledger) Look(_ context.Context, j Job, aids []string) (map[string]Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]Record{}
	for _, aid := range aids {
		out[aid] = l.learned[aid]
	}
	return out, nil
}

func (l *ledger) Learn(ctx context.Context, j Job, aids []string, _ time.Time, decide func(map[string]Record, Room) Lesson) error {
	recs, _ := l.Look(ctx, j, aids)
	lesson := decide(recs, plenty)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range lesson.Take {
		r := l.learned[t.AID]
		r.Known, r.KEL, r.Mine = true, t.Under, &Row{Entry: t.Hash, Size: t.Size()}
		l.learned[t.AID] = r
	}
	for _, aid := range lesson.Settled {
		delete(l.held, aid)
	}
	for _, h := range lesson.Hold {
		l.held[h.AID] = h
	}
	l.pulls[keyOf(j)].ReadTo = lesson.ReadTo
	return nil
}

func (l *ledger) Histories(context.Context, []string) (map[string][]byte, error) {
	return map[string][]byte{}, nil
}

func (l *ledger) LearnReviews(_ context.Context, j Job, lesson ReviewLesson, _ time.Time) (bool, error) {
	return false, nil
}

func (l *ledger) Due(_ context.Context, j Job, now time.Time) (due []Held, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if j.Stream == peers.Cards && (h.Retry.IsZero() && !l.learned[h.AID].Registered || !h.Retry.IsZero() && !h.Retry.After(now)) {
			due = append(due, h)
		}
	}
	return due, nil
}

func (l *ledger) Sweep(context.Context, Job, time.Time) error { return nil }

func (l *ledger) Release(_ context.Context, j Job, o Outcome, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pulls[keyOf(j)]
	p.taken, p.next = false, o.Next
	switch {
	case o.Failure != "":
		p.Failures++
	default:
		p.Failures = 0
	}
	if o.End {
		p.Round, p.Calm, p.Passing = p.Round+1, p.Calm+1, false
	}
	if o.News {
		p.Calm = 0
	}
	if o.Again {
		p.ReadTo, p.Passing, p.Pass = 0, true, p.Pass+1
	}
	l.ended[keyOf(j)] = append(l.ended[keyOf(j)], o)
	return nil
}

func (l *ledger) has(n *directorytest.Node) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.learned[n.AID()].Mine != nil
}

// neighbours are peers, all learned from.
type neighbours []peers.Peer

func (n neighbours) All() []peers.Peer { return n }

func (n neighbours) Discovering() []peers.Peer { return n }

func (n neighbours) DiscoveryOff() bool { return false }

type always struct{}

func (always) Horizon(now time.Time) directory.Horizon { return directory.UsualAges.Horizon(now) }

// street is a hub with peers, in a bubble of its own time.
type street struct {
	*ledger
	net *learnedtest.Net
	end func()
}

func endpoint(i int) string { return fmt.Sprintf("https://p%d.example.org", i) }

func newStreet(t *testing.T, n int) *street {
	s := &street{ledger: newLedger(), net: learnedtest.NewNet()}
	var list neighbours
	for i := range n {
		list = append(list, peers.Peer{ID: int64(i + 1), Name: fmt.Sprintf("p%d", i+1), Endpoint: endpoint(i + 1), Discovery: true, KEL: []byte{1}})
	}
	p := NewPuller(Puller{
		Vetter: Vetter{Replay: identity.Replay, Now: time.Now}, Store: s, Net: s.net, Peers: list, Horizon: always{},
		Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	s.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return s
}

func (s *street) peer(i int) *learnedtest.Peer { return s.net.Peer(endpoint(i)) }

// asked are the places that a peer was asked for cards from.
func (s *street) asked(i int) (from []string) {
	for _, a := range s.peer(i).Asked() {
		if rest, is := strings.CutPrefix(a, learnedtest.Cards+" "); is {
			from = append(from, rest)
		}
	}
	return from
}
