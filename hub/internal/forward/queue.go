package forward

import (
	"context"
	"sync"

	"github.com/anet-hub/anet/hub/internal/peers"
)

const (
	callsAtOnce = 16  // to one peer: as many as its circuit lets through
	mostWaiting = 256 // for one of these to end
)

// Queue lets what is meant for a busy peer wait for its turn, where the circuit
// would send it away: senders would come again in seconds, all at once.
type Queue struct {
	circuits Circuits
	atOnce   int // to one peer
	most     int // that wait

	mu    sync.Mutex
	lines map[int64]*line
}

// line is what waits for one peer.
type line struct {
	calls   chan struct{}
	waiting int
}

// NewQueue makes a queue before circuits.
func NewQueue(c Circuits) *Queue { return NewLane(c, callsAtOnce, mostWaiting) }

// NewLane makes a queue for a part of the calls, which leaves the rest of them to
// others: so many at once to one peer, and so many that wait.
func NewLane(c Circuits, atOnce, waiting int) *Queue {
	return &Queue{circuits: c, atOnce: atOnce, most: waiting, lines: map[int64]*line{}}
}

// Try is Circuits.Try when it is this call's turn. Nothing that happens while it
// waits is the peer's failure.
func (q *Queue) Try(ctx context.Context, p peers.Peer, do func(context.Context) error) error {
	l, err := q.join(p)
	if err != nil {
		return err
	}
	select {
	case l.calls <- struct{}{}:
		q.leave(l)
	case <-ctx.Done():
		q.leave(l)
		return ctx.Err()
	}
	defer func() { <-l.calls }()
	return q.circuits.Try(ctx, p, do)
}

func (q *Queue) join(p peers.Peer) (*line, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[p.ID]
	if l == nil {
		l = &line{calls: make(chan struct{}, q.atOnce)}
		q.lines[p.ID] = l
	}
	if l.waiting >= q.most {
		return nil, busy()
	}
	l.waiting++
	return l, nil
}

func (q *Queue) leave(l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.waiting--
}
