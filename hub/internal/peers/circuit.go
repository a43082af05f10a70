package peers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	atOnce      = 16 // calls to one peer
	failuresMax = 3  // in a row, then a peer is left alone
	retryFirst  = 5 * time.Second
	retryLast   = 2 * time.Minute
)

// Circuits keep a peer that does not answer from holding up what has nothing to
// do with it. A circuit opens at a call that took too long or at the third
// failure in a row, and is closed by a fetch in the background alone: nobody's
// message is spent on finding out.
type Circuits struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[int64]*circuit
	news []opened // circuits that opened, for whoever keeps why
}

// opened is why a peer was given up.
type opened struct {
	id  int64
	err error
}

type circuit struct {
	busy     int
	failures int
	open     bool
	pause    time.Duration
	state    State
}

// State is how a peer answers, as this process sees it.
type State struct {
	Open        bool
	NextTry     time.Time // of the background, where it is open
	LastError   error
	LastSuccess time.Time
}

// NewCircuits makes circuits that are all closed.
func NewCircuits(now func() time.Time) *Circuits {
	return &Circuits{now: now, byID: map[int64]*circuit{}}
}

// Try calls a peer unless it is known not to answer or has its hands full. An
// error of do is the peer's failure: an answer that says no is none. The caller
// giving up says nothing about the peer.
func (c *Circuits) Try(ctx context.Context, p Peer, do func(context.Context) error) error {
	if err := c.enter(p); err != nil {
		return err
	}
	err := do(ctx)
	c.leave(p, err, ctx.Err())
	return err
}

func (c *Circuits) enter(p Peer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at(p.ID)
	switch {
	case at.open:
		wait := max(at.state.NextTry.Sub(c.now()), time.Second)
		return errs.New(errs.Unavailable, "peer_not_answering", "the peer %s does not answer just now", p.Name).After(wait)
	case at.busy >= atOnce:
		return errs.New(errs.Unavailable, "peer_busy", "too many calls of the peer %s are under way", p.Name).After(time.Second)
	}
	at.busy++
	return nil
}

func (c *Circuits) leave(p Peer, err, gaveUp error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at(p.ID)
	at.busy--
	switch {
	case err == nil:
		at.failures, at.pause, at.state.LastSuccess = 0, 0, c.now()
	case errors.Is(gaveUp, context.Canceled):
	default:
		at.failures++
		at.state.LastError = err
		if !at.open && (slow(err) || at.failures >= failuresMax) {
			at.opens(c.now())
			c.news = append(c.news, opened{p.ID, err})
		}
	}
}

// opens begins with the pause that was reached, unless a call went well since: a
// peer that says who it is and answers nothing else would cost a message its
// patience every few seconds.
func (at *circuit) opens(now time.Time) {
	at.open, at.pause = true, max(at.pause, retryFirst)
	at.state.NextTry = now.Add(at.pause)
}

// slow reports whether a failure took the time of whoever waited for it.
func slow(err error) bool {
	var timed interface{ Timeout() bool }
	return errors.As(err, &timed) && timed.Timeout()
}

// gaveUp gives the circuits that opened since it was last asked.
func (c *Circuits) gaveUp() []opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := c.news
	c.news = nil
	return news
}

// due gives the peers of open circuits whose next try has come, and moves that on.
func (c *Circuits) due(list []Peer) (out []Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list {
		if at := c.at(p.ID); at.open && !p.Paused && !c.now().Before(at.state.NextTry) {
			at.pause = min(2*at.pause, retryLast)
			at.state.NextTry = c.now().Add(at.pause)
			out = append(out, p)
		}
	}
	return out
}

// fetched takes in what a fetch in the background found out. A failure opens the
// circuit, too: no message has to find out what is known.
func (c *Circuits) fetched(id int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at(id)
	if err != nil {
		if at.state.LastError = err; !at.open {
			at.opens(c.now())
		}
		return
	}
	at.open, at.failures = false, 0
	at.state.LastSuccess = c.now()
}

// forget drops what is known of peers that are gone.
func (c *Circuits) forget(keep []Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := map[int64]bool{}
	for _, p := range keep {
		ids[p.ID] = true
	}
	for id, at := range c.byID {
		if !ids[id] && at.busy == 0 {
			delete(c.byID, id)
		}
	}
}

// State tells how a peer answers.
func (c *Circuits) State(id int64) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.byID[id]
	if !known {
		return State{}
	}
	s := at.state
	if s.Open = at.open; !s.Open {
		s.NextTry = time.Time{}
	}
	return s
}

func (c *Circuits) at(id int64) *circuit {
	if c.byID[id] == nil {
		c.byID[id] = &circuit{}
	}
	return c.byID[id]
}
