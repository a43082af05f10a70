package wake

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	batchEvery = 5 * time.Millisecond // between two batches of news
	maxNews    = 1 << 14              // more becomes "look at everything"
	lastCall   = time.Second          // for the batch at the end

	// With a working connection every waiting mailbox is looked at now and then:
	// a process that is killed can't tell what it had stored.
	lookEvery = 15 * time.Second
	// Without one, looking is all there is.
	lookDeaf = 250 * time.Millisecond

	retryMin, retryMax = 100 * time.Millisecond, 10 * time.Second
	retryDeaf          = time.Minute // a pooler is not taken away every second
	lookBatch          = 1000        // mailboxes in one question
)

// ErrDeaf is a connection on which nothing can be heard: it leads through a
// pooler that gives every transaction another server connection.
var ErrDeaf = errors.New("the database connection leads through a pooler in transaction mode, where LISTEN does not work")

// News is what one process tells the others.
type News struct {
	AIDs []string
	All  bool // something was lost: look at every mailbox
}

// Bus connects the processes on one database.
type Bus interface {
	// Tell passes news to the other processes. After an error nobody may have heard.
	Tell(ctx context.Context, n News) error
	// Hear calls ready once nothing more can be missed, then heard for the news
	// of others, until the connection is lost or ctx ends. ErrDeaf when nothing
	// can ever be heard.
	Hear(ctx context.Context, ready func(), heard func(News)) error
}

// Run connects the board with the other processes until ctx ends.
func (b *Board) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	hearing := make(chan bool)
	wg.Go(func() { b.tellLoop(ctx) })
	wg.Go(func() { b.hearLoop(ctx, hearing) })
	wg.Go(func() { b.lookLoop(ctx, hearing) })
	wg.Wait()
	return nil
}

// tell notes news under the lock.
func (b *Board) tell(aid string) {
	b.news[aid] = struct{}{}
	if len(b.news) > maxNews {
		b.all = true
	}
	if b.all {
		clear(b.news)
	}
}

// tellLoop sends the first news at once and what comes meanwhile in one batch:
// a notification in every send cost three quarters of the sends.
func (b *Board) tellLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCall)
			defer cancel()
			b.flush(last)
			return
		case <-b.newsReady:
		}
		pause := batchEvery
		if !b.flush(ctx) {
			pause = time.Second
		}
		sleep(ctx, pause)
	}
}

// flush passes on what there is. What was lost on the way can't be known, so
// after a failure the others are told to look at everything.
func (b *Board) flush(ctx context.Context) bool {
	n := b.take()
	if len(n.AIDs) == 0 && !n.All {
		return true
	}
	err := b.bus.Tell(ctx, n)
	if err == nil {
		return true
	}
	if ctx.Err() == nil {
		b.log.Warn("other hub processes were not told of new mail, trying again", "error", err)
	}
	b.mu.Lock()
	b.all = true
	b.mu.Unlock()
	signal(b.newsReady)
	return false
}

func (b *Board) take() News {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := News{All: b.all}
	for aid := range b.news {
		n.AIDs = append(n.AIDs, aid)
	}
	b.all = false
	clear(b.news)
	return n
}

// hearLoop keeps listening, and tells the look-out whether it can.
func (b *Board) hearLoop(ctx context.Context, hearing chan<- bool) {
	retry, saidDeaf := retryMin, false
	for ctx.Err() == nil {
		err := b.bus.Hear(ctx, func() {
			retry, saidDeaf = retryMin, false
			report(ctx, hearing, true)
		}, b.heard)
		report(ctx, hearing, false)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrDeaf):
			if !saidDeaf {
				b.log.Warn("waiting polls look into the database several times a second: set a direct database URL", "reason", err)
			}
			retry, saidDeaf = retryDeaf, true
		default:
			b.log.Warn("lost the connection that other hub processes tell of new mail on", "error", err, "retry", retry)
		}
		sleep(ctx, retry/2+rand.N(retry/2))
		retry = min(2*retry, max(retryMax, retry))
	}
}

func report(ctx context.Context, to chan<- bool, v bool) {
	select {
	case to <- v:
	case <-ctx.Done():
	}
}

func (b *Board) heard(n News) {
	if n.All {
		signal(b.recheck)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, aid := range n.AIDs {
		b.rouse(aid, nil)
	}
}

// lookLoop looks into the waiting mailboxes: at once when listening began or
// began anew, often while it isn't possible, seldom otherwise.
func (b *Board) lookLoop(ctx context.Context, hearing <-chan bool) {
	next := time.NewTimer(lookDeaf)
	defer next.Stop()
	every := lookDeaf
	for {
		select {
		case <-ctx.Done():
			return
		case on := <-hearing:
			if every = lookDeaf; on {
				every = lookEvery
			}
		case <-b.recheck:
		case <-next.C:
		}
		b.look(ctx)
		next.Reset(every)
	}
}

func (b *Board) look(ctx context.Context) {
	for places := range slices.Chunk(b.places(), lookBatch) {
		aids, err := b.mail.WithMail(ctx, places)
		if err != nil {
			if ctx.Err() == nil {
				b.log.Warn("could not look into the waiting mailboxes", "error", err)
			}
			return
		}
		b.heard(News{AIDs: aids})
	}
}

// places lists the waiting mailboxes, each with its lowest id.
func (b *Board) places() []Place {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Place, 0, len(b.waiters))
	for aid, list := range b.waiters {
		p := Place{AID: aid, After: list[0].place.After}
		for _, w := range list {
			p.After = min(p.After, w.place.After)
		}
		out = append(out, p)
	}
	return out
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
