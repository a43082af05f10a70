package forward

import (
	"context"
	"errors"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/errs"
)

// No is an answer of a peer that refuses what was asked and settles nothing: the
// same may be taken by another peer, or later.
func No(format string, args ...any) error {
	return errs.New(errs.Forbidden, "peer_refused", format, args...)
}

// Busy is the answer of a peer that has its hands full, and says when to ask again.
func Busy(again time.Duration) error {
	return errs.New(errs.Forbidden, "peer_busy", "the peer has its hands full just now").After(again)
}

// ThinLine is no answer: the message was on its way to the peer when its time was
// over. That is not the peer's failure.
func ThinLine() error {
	return errs.New(errs.Forbidden, "peer_line_slow", "the way to the peer is too slow for a message of this size")
}

// Asking all peers takes patience at most, and perMiB more for a large message: a
// line of a megabit and a half has it there in time.
const (
	patience = 10 * time.Second
	perMiB   = 8 * time.Second
)

// Longer is how much longer a message may take for its size.
func Longer(size int) time.Duration { return time.Duration(size>>16) * (perMiB >> 4) }

// Patience is how long Offer takes at most with a message of a size.
func Patience(size int) time.Duration { return patience + Longer(size) }

// When to ask again after peers that failed, where they do not say it themselves.
const (
	againSoon   = 5 * time.Second
	againLater  = 2 * time.Minute // and at the latest, where a peer is gone
	againPaused = 15 * time.Minute
)

// askable are the peers that may be asked for an agent: all with delivery. Those
// that are paused or not proven yet are among them because the agent may be there.
func askable(t Table) (out []peers.Peer) {
	if !t.DeliveryOn() {
		return nil
	}
	for _, p := range t.All() {
		if p.Delivery {
			out = append(out, p)
		}
	}
	return out
}

// least is the shortest time a peer is given: with less, one that works would
// look like one that does not.
const least = 2 * time.Second

// question is what one peer is asked. NotFound means that the next is asked, Full
// that nobody else need be; after anything else the answer is not known.
type question[T any] func(context.Context, peers.Peer) (T, error)

// ask puts a question to one peer after the other until one answers it. Where
// nobody does, it is relay.PeersFailed if some could not be asked, and NotFound if not.
func ask[T any](ctx context.Context, list []peers.Peer, c Circuits, q question[T]) (none T, err error) {
	var again time.Duration
	for i, p := range list {
		answer, err := askOne(ctx, p, i == len(list)-1, c, q)
		switch {
		case err == nil:
			return answer, nil
		case errors.Is(ctx.Err(), context.Canceled): // who asked has gone
			return none, ctx.Err()
		case errs.KindOf(err) == errs.Full:
			return none, err
		case errs.KindOf(err) != errs.NotFound:
			again = sooner(again, againAfter(p, err))
		}
	}
	if again > 0 {
		return none, relay.PeersFailed(again)
	}
	return none, errs.New(errs.NotFound, "unknown_everywhere", "no hub that was asked has the agent")
}

func askOne[T any](ctx context.Context, p peers.Peer, last bool, c Circuits, q question[T]) (answer T, err error) {
	if p.Paused || !p.Reached() {
		return answer, No("the peer %s is paused, or not proven just now", p.Name)
	}
	ctx, cancel, err := turn(ctx, last)
	if err != nil {
		return answer, err
	}
	defer cancel()
	failed := c.Try(ctx, p, func(ctx context.Context) error {
		if answer, err = q(ctx, p); answered(err) {
			return nil
		}
		return err
	})
	if failed != nil {
		return answer, failed
	}
	return answer, err
}

// turn gives a peer half of the time that is left, and the last one all of it:
// one that hangs leaves some for those behind it.
func turn(ctx context.Context, last bool) (context.Context, func(), error) {
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	if left < least {
		return nil, nil, No("there was no time left to ask")
	}
	if !last {
		left = max(left/2, least)
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	return ctx, cancel, nil
}

// answered reports whether a peer works, whatever it said.
func answered(err error) bool {
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Full, errs.Forbidden:
		return true
	}
	return err == nil
}

func againAfter(p peers.Peer, err error) time.Duration {
	switch e := errs.As(err); {
	case p.Paused:
		return againPaused
	case e != nil && e.RetryAfter > 0:
		return min(max(e.RetryAfter, againSoon), againLater)
	}
	return againSoon
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}
