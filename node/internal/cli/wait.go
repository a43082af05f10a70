package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/effect"
)

// follow waits for the end of a task, shows what there is then, and gives the
// exit code of it. A node that goes away meanwhile takes nothing back: the task
// is on its disk, and still waiting is the truth.
func (p *Program) follow(ctx context.Context, api node.API, t node.Task, most time.Duration) error {
	t, err := p.await(ctx, api, t, most)
	if err != nil {
		p.note("anet: %v", err)
	}
	if err := p.showTask(t); err != nil {
		return err
	}
	return exitWith(outcome(t))
}

// await follows a task until it ends, wants to be paid, or the time is up. A
// person at a terminal sees that something goes on.
func (p *Program) await(ctx context.Context, api node.API, t node.Task, most time.Duration) (node.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	progress := p.progress()
	defer progress.stop()
	for !settled(t) && ctx.Err() == nil {
		progress.tell(t)
		next, err := api.Wait(ctx, t.ID, t.Version)
		if err != nil {
			return t, err
		}
		t = next
	}
	return t, nil
}

// settled tasks will not change unless somebody here does something: they have
// ended, or want to be paid.
func settled(t node.Task) bool {
	return t.Ended || t.Effect != nil && effect.Status(*t.Effect) == effect.PaymentRequired
}

// progress is a line on a terminal that says how long it has been. The zero
// value, where stderr is no terminal, says nothing.
type progress struct {
	states chan node.Task
	done   chan struct{}
}

func (p *Program) progress() progress {
	if !terminal(p.Err) {
		return progress{}
	}
	g := progress{make(chan node.Task), make(chan struct{})}
	go p.draw(g)
	return g
}

func (p *Program) draw(g progress) {
	defer close(g.done)
	begun, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	var t node.Task
	for {
		select {
		case next, ok := <-g.states:
			if !ok {
				fmt.Fprint(p.Err, "\r\x1b[K")
				return
			}
			t = next
		case <-tick.C:
		}
		fmt.Fprintf(p.Err, "\r\x1b[K%s, %s", stage(t), time.Since(begun).Round(time.Second))
	}
}

// stage is where a task is, in a few words.
func stage(t node.Task) string {
	if t.State != "submitted" {
		return line(t.State)
	}
	switch t.Delivery {
	case "queued":
		if t.LastError != "" {
			return line("waiting for the hub: " + t.LastError)
		}
		return "waiting for the hub"
	case "sent":
		if t.ViaHub != "" {
			return "sent via another hub, waiting for the provider"
		}
		return "sent, waiting for the provider"
	}
	return "submitted"
}

func (g progress) tell(t node.Task) {
	if g.states != nil {
		g.states <- t
	}
}

func (g progress) stop() {
	if g.states != nil {
		close(g.states)
		<-g.done
	}
}
