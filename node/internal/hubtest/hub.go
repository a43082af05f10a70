// Package hubtest is a hub in memory for tests of the node: mailboxes with
// growing ids, long polls, acknowledgements, quotas and key sets behave as a
// hub's do. It can be switched off, and tell how often it was asked.
package hubtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Hub holds the mailboxes of any number of nodes.
type Hub struct {
	mu      sync.Mutex
	boxes   map[string]*box
	keys    map[string]keys
	down    error
	plain   bool // does not know wait_ms
	quota   int
	reviews []Review
	ledger  *Ledger
	loseAck bool
	via     string
	log     []Attempt
}

// Attempt is one request that reached the hub, or tried to.
type Attempt struct {
	At   time.Time
	What string // poll, ack, send
	AID  string
}

type box struct {
	last int64
	mail []wire.Message
	wake chan struct{}
}

// New makes an empty hub.
func New() *Hub { return &Hub{boxes: map[string]*box{}, keys: map[string]keys{}, quota: 5000} }

// Open gives a node a mailbox, as registering does.
func (h *Hub) Open(aid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boxes[aid] == nil {
		h.boxes[aid] = &box{last: 1_000_000, wake: make(chan struct{})}
	}
}

// Down makes every request fail with err; nil brings the hub back. Polls under
// way end at once.
func (h *Hub) Down(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = err
	for _, b := range h.boxes {
		b.ring()
	}
}

// Plain makes it a hub that knows nothing of wait_ms.
func (h *Hub) Plain() { h.mu.Lock(); h.plain = true; h.mu.Unlock() }

// Quota bounds the messages of a mailbox.
func (h *Hub) Quota(n int) { h.mu.Lock(); h.quota = n; h.mu.Unlock() }

// LoseAnswers makes every send take effect and then fail, as a connection that
// broke before the answer does.
func (h *Hub) LoseAnswers(on bool) { h.mu.Lock(); h.loseAck = on; h.mu.Unlock() }

// Carry makes every recipient one of another hub.
func (h *Hub) Carry(via string) { h.mu.Lock(); h.via = via; h.mu.Unlock() }

// Attempts tells every request so far.
func (h *Hub) Attempts() []Attempt { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.log) }

// Restore makes a mailbox as an old backup has it: empty, its ids behind those
// that were given out.
func (h *Hub) Restore(aid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boxes[aid].mail, h.boxes[aid].last = nil, 1
}

// Mail tells what waits for a node.
func (h *Hub) Mail(aid string) []wire.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boxes[aid] == nil {
		return nil
	}
	return slices.Clone(h.boxes[aid].mail)
}

// Put drops an envelope into a mailbox without a sender, as anybody may.
func (h *Hub) Put(aid string, envelope []byte) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.boxes[aid].put(envelope)
}

func (b *box) put(envelope []byte) int64 {
	b.last++
	b.mail = append(b.mail, wire.Message{ID: b.last, Envelope: slices.Clone(envelope)})
	b.ring()
	return b.last
}

func (b *box) ring() {
	close(b.wake)
	b.wake = make(chan struct{})
}

// Line is one node's way to the hub.
type Line struct {
	hub    *Hub
	aid    string
	breaks string // the kind of request from which on nothing gets through
	broken bool
	pinned []byte // what the node knows of the ledger's keys
}

// Line connects a node; Open gives it a mailbox.
func (h *Hub) Line(aid string) *Line { return &Line{hub: h, aid: aid} }

// Break cuts the line at the next request of a kind: what a process that is
// killed in this moment does not get to do.
func (l *Line) Break(at string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.breaks = at
}

// enter notes the attempt and fails while the hub is down or the line broken.
// The caller holds the lock.
func (l *Line) enter(what string) error {
	l.hub.log = append(l.hub.log, Attempt{At: time.Now(), What: what, AID: l.aid})
	if l.broken = l.broken || what == l.breaks; l.broken {
		return errs.New(errs.Unavailable, "line_broken", "the line to the hub is broken")
	}
	return l.hub.down
}

// Poll answers as section I.4 says, holding an empty answer back up to wait_ms.
func (l *Line) Poll(ctx context.Context, p wire.Poll) (wire.Polled, error) {
	l.hub.mu.Lock()
	until := time.Now()
	if p.WaitMS != nil && !l.hub.plain {
		until = until.Add(time.Duration(*p.WaitMS) * time.Millisecond)
	}
	l.hub.mu.Unlock()
	for first := true; ; first = false {
		page, wake, err := l.page(p, first)
		if err != nil || len(page.Messages) > 0 || !wait(ctx, wake, until) {
			return page, err
		}
	}
}

func (l *Line) page(p wire.Poll, first bool) (wire.Polled, <-chan struct{}, error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if first {
		if err := l.enter("poll"); err != nil {
			return wire.Polled{}, nil, err
		}
	}
	b := l.hub.boxes[l.aid]
	switch {
	case l.hub.down != nil:
		return wire.Polled{}, nil, l.hub.down
	case b == nil:
		return wire.Polled{}, nil, errs.New(errs.Unauthorized, "unknown_signer", "not registered here")
	}
	answer := wire.Polled{Messages: []wire.Message{}}
	if !l.hub.plain {
		answer.WaitMS = p.WaitMS
	}
	for _, m := range b.mail {
		if m.ID > p.AfterID && len(answer.Messages) < p.Limit {
			answer.Messages = append(answer.Messages, m)
		}
	}
	return answer, b.wake, nil
}

// wait is false when there is nothing more to wait for.
func wait(ctx context.Context, wake <-chan struct{}, until time.Time) bool {
	d := time.Until(until)
	if d <= 0 { // timers that are due at once crash Go's race detector in a synctest bubble
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-wake:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// Ack deletes own messages and skips unknown ids.
func (l *Line) Ack(_ context.Context, ids []int64) error {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if err := l.enter("ack"); err != nil {
		return err
	}
	if b := l.hub.boxes[l.aid]; b != nil {
		b.mail = slices.DeleteFunc(b.mail, func(m wire.Message) bool { return slices.Contains(ids, m.ID) })
	}
	return nil
}

// Send queues an envelope for another node. Of a failure it says whether the
// envelope may have arrived all the same.
func (l *Line) Send(_ context.Context, to string, envelope []byte) (via string, mayHaveArrived bool, err error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if err := l.enter("send"); err != nil {
		return "", false, err
	}
	b := l.hub.boxes[to]
	switch {
	case b == nil:
		return "", false, errs.New(errs.NotFound, "agent_unknown", "no such agent")
	case len(b.mail) >= l.hub.quota:
		return "", false, errs.New(errs.Full, "mailbox_full", "the mailbox is full")
	}
	b.put(envelope)
	if l.hub.loseAck {
		return "", true, errs.New(errs.Unavailable, "connection_lost", "the answer was lost")
	}
	return l.hub.via, false, nil
}
