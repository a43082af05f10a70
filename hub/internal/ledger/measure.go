package ledger

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// measureEvery is about how often metrics are collected.
const measureEvery = 15 * time.Second

// RunMeasure keeps the metrics that are read from the books, until ctx ends.
func (l *Ledger) RunMeasure(ctx context.Context) error {
	return upkeep.AtOnce(ctx, measureEvery, l.Log, "the books were not measured, trying again", l.Measure)
}

// Measure reads what hubs owe each other, and what others saw of the chain.
func (l *Ledger) Measure(ctx context.Context) error {
	debts, err := l.Store.Debts(ctx)
	if err != nil {
		return err
	}
	for _, d := range debts {
		if name := l.Peers.Name(d.Hub); name != "" {
			l.metrics.debt(name, d)
		}
	}
	return l.measureChain(ctx)
}

// measureChain says nothing of a chain that nobody ever saw: its hub may be alone.
func (l *Ledger) measureChain(ctx context.Context) error {
	head, _, err := l.Store.Head(ctx)
	if err != nil {
		return err
	}
	seen, err := l.seen.get(ctx, l.Now, l.Store.Witnesses)
	if err == nil && seen.Count > 0 {
		l.metrics.seen(Witnessed{Witnesses: seen, HeadSeq: head})
	}
	return err
}
