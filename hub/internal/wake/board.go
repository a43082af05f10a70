// Package wake tells a waiting poll that mail has come, in this process and in
// the others on the same database.
//
// The one rule its users must know: register first, look second. Whoever looks
// into the mailbox before Wait can miss what arrives in between. A waiter may be
// woken for nothing and holds no connection.
package wake

import (
	"context"
	"log/slog"
	"sync"
)

// maxWaiters is how many polls of one agent may wait. A node has one; what is
// left over from connections that broke unnoticed gives way to newer ones.
const maxWaiters = 16

// Place is a mailbox and the id after which a poll waits for mail.
type Place struct {
	AID   string
	After int64
}

// Mail looks into many mailboxes at once.
type Mail interface {
	// WithMail gives the AIDs of the places after which there is mail.
	WithMail(ctx context.Context, places []Place) ([]string, error)
}

// Board is where polls wait. Its Run connects it with the other processes.
type Board struct {
	mail Mail
	bus  Bus
	log  *slog.Logger

	mu      sync.Mutex
	waiters map[string][]*Waiter
	waiting int
	news    map[string]struct{} // for the other processes
	all     bool                // they must look at everything

	newsReady chan struct{}
	recheck   chan struct{}
	closing   chan struct{}
	close     sync.Once
}

// NewBoard makes a board.
func NewBoard(mail Mail, bus Bus, log *slog.Logger) *Board {
	return &Board{
		mail: mail, bus: bus, log: log,
		waiters: map[string][]*Waiter{}, news: map[string]struct{}{},
		newsReady: make(chan struct{}, 1), recheck: make(chan struct{}, 1), closing: make(chan struct{}),
	}
}

// Letter is a message.
type Letter struct {
	ID       int64
	Envelope []byte
}

// Waiter is one poll that waits.
type Waiter struct {
	board  *Board
	place  Place
	mail   chan struct{}
	over   chan struct{} // a newer poll of the agent took its place
	letter *Letter       // guarded by the board
}

// Wait registers a poll. Stop must follow.
func (b *Board) Wait(p Place) *Waiter {
	w := &Waiter{board: b, place: p, mail: make(chan struct{}, 1), over: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	list := append(b.waiters[p.AID], w)
	if len(list) > maxWaiters {
		close(list[0].over)
		list = list[1:]
		b.waiting--
	}
	b.waiters[p.AID] = list
	b.waiting++
	return w
}

// Next waits for mail that may have come. It is false when the wait is over:
// ctx ended, the hub stops, or a newer poll took this one's place.
func (w *Waiter) Next(ctx context.Context) bool {
	select {
	case <-w.mail:
		return true
	case <-w.over:
	case <-w.board.closing:
	case <-ctx.Done():
	}
	return false
}

// Letter is what the latest wake handed over; nil when the poll has to look.
func (w *Waiter) Letter() *Letter {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	return w.letter
}

// Stop takes the poll off the board.
func (w *Waiter) Stop() {
	b := w.board
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.waiters[w.place.AID]
	for i := range list {
		if list[i] == w {
			b.waiters[w.place.AID] = append(list[:i:i], list[i+1:]...)
			b.waiting--
			break
		}
	}
	if len(b.waiters[w.place.AID]) == 0 {
		delete(b.waiters, w.place.AID)
	}
}

// Wake says that mail for the agent was stored: after the commit, never before.
func (b *Board) Wake(aid string) { b.wake(aid, nil) }

// Hand is Wake with the message, so that polls that wait here need not look for
// it. It must have been alone in its mailbox when it was committed: a poll that
// gets a message goes on behind its id, and would skip what lies before it.
func (b *Board) Hand(aid string, l Letter) { b.wake(aid, &l) }

func (b *Board) wake(aid string, l *Letter) {
	b.mu.Lock()
	b.rouse(aid, l)
	b.tell(aid)
	b.mu.Unlock()
	signal(b.newsReady)
}

func (b *Board) rouse(aid string, l *Letter) {
	for _, w := range b.waiters[aid] {
		w.letter = l
		signal(w.mail)
	}
}

// Waiting is the number of polls that wait.
func (b *Board) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

// Close ends every wait, those to come as well.
func (b *Board) Close() { b.close.Do(func() { close(b.closing) }) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
