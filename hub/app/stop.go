package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A hub that is told to stop has gone within ten seconds, whatever hangs. So the
// parts of a stop have one clock: each is told to be done by a moment counted
// from the beginning, and what is early leaves its time to the next. A part that
// does not heed its moment is left behind a second later.
const (
	requestsBy    = 5 * time.Second
	loopsBy       = 6500 * time.Millisecond
	connectionsBy = 7 * time.Second
	databaseBy    = 8 * time.Second
	leftBehind    = time.Second
)

// part is something to end.
type part struct {
	name string
	by   time.Duration // from the beginning of the stop
	end  func(context.Context) error
}

// stop ends the parts one after the other, even where ctx has ended before.
func stop(ctx context.Context, parts ...part) error {
	begin, ctx := time.Now(), context.WithoutCancel(ctx)
	var failed error
	for _, p := range parts {
		failed = errors.Join(failed, p.stop(ctx, begin.Add(p.by)))
	}
	return failed
}

func (p part) stop(ctx context.Context, by time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.end(ctx) }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Until(by) + leftBehind):
		return fmt.Errorf("stop: %s did not end, and was left behind", p.name)
	}
}
