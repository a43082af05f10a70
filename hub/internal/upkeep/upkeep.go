// Package upkeep is what a process of the hub does over and over while it is up.
//
// The one rule: whatever goes wrong, it is tried again after the same pause, and the
// log says it once, not each time, until it went well again.
package upkeep

import (
	"context"
	"log/slog"
	"time"
)

// Every does something after each pause until ctx ends. Trouble is what the log says
// when it fails.
func Every(ctx context.Context, pause time.Duration, log *slog.Logger, trouble string, do func(context.Context) error) error {
	return (&work{log: log, trouble: trouble, do: do}).every(ctx, pause)
}

// AtOnce does it before the first pause, too.
func AtOnce(ctx context.Context, pause time.Duration, log *slog.Logger, trouble string, do func(context.Context) error) error {
	w := &work{log: log, trouble: trouble, do: do}
	w.once(ctx)
	return w.every(ctx, pause)
}

type work struct {
	log     *slog.Logger
	trouble string
	do      func(context.Context) error
	failing bool
}

func (w *work) every(ctx context.Context, pause time.Duration) error {
	next := time.NewTicker(pause)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
			w.once(ctx)
		}
	}
}

func (w *work) once(ctx context.Context) {
	err := w.do(ctx)
	if err != nil && !w.failing && ctx.Err() == nil {
		w.log.Warn(w.trouble, "error", err)
	}
	w.failing = err != nil
}
