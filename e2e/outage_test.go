package e2e

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/node/app"
)

const (
	crowd  = 50
	outage = 20 * time.Second // a third of the case's minute; the minute itself is told in node/internal/mailbox
)

// Fifty nodes lose their hub for a while. They do not come back in the
// same moment, they do not fill their logs, and what was sent meanwhile
// arrives. The nodes run in this process, the hub in one of its own.
func TestNodesSpreadOverAnOutage(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Database: pgtest.URL(t)})
	program := stage.StartProgram(t, nil)
	var attempts attempts
	var nodes [crowd]*innerNode
	for i := range nodes {
		nodes[i] = runInside(t, hub.Hub, serving(program), &attempts)
	}
	stage.Until(t, stage.Patience, "all of them wait for mail", func() bool { return pollsWaiting(t, hub.Hub) == crowd })

	hub.Kill()
	down := time.Now()
	var asked [crowd]app.Task
	for i, n := range nodes { // each calls its neighbour while the hub is away
		var err error
		asked[i], err = n.API().StartTask(t.Context(), app.Order{Provider: nodes[(i+1)%crowd].aid, Capability: "p.work"})
		stage.Must(t, err)
	}
	<-time.After(time.Until(down.Add(outage)))
	hub.Again(t)
	back := time.Now()

	for i, n := range nodes {
		done := n.await(t, asked[i].ID)
		if got := stage.Outcome(done); got != "completed OK verified" {
			t.Errorf("a call made during the outage: %s, want completed OK verified", got)
		}
	}
	t.Logf("all calls had ended %s after the hub was back", time.Since(back))
	attempts.check(t, down, back)
	for _, n := range nodes {
		if lines := strings.Count(n.log.String(), "\n"); lines > 12 {
			t.Errorf("a node wrote %d lines about the outage:\n%s", lines, n.log)
			break
		}
		if !strings.Contains(n.log.String(), "the hub is back") {
			t.Errorf("a node does not say that the hub is back:\n%s", n.log)
		}
	}
}

// innerNode is a node inside the test process.
type innerNode struct {
	*app.App
	aid string
	log *stage.Words
}

func runInside(t *testing.T, hub *stage.Hub, c stage.NodeConfig, a *attempts) *innerNode {
	t.Helper()
	home := stage.JoinNode(t, hub, c)
	n := &innerNode{aid: home.AID, log: &stage.Words{}}
	var err error
	n.App, err = app.New(t.Context(), app.Options{
		DataDir: filepath.Clean(home.Dir), Log: slog.New(slog.NewTextHandler(n.log, nil)), Transport: a,
	})
	stage.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("a node ended with %v", err)
		}
	})
	return n
}

func (n *innerNode) await(t *testing.T, id string) app.Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*stage.Patience)
	defer cancel()
	task, err := n.API().Task(ctx, id)
	for err == nil && !task.Ended && ctx.Err() == nil {
		task, err = n.API().Wait(ctx, id, task.Version)
	}
	stage.Must(t, err)
	return task
}

// attempts is the way of all nodes to the hub, and when they took it to ask for mail.
type attempts struct {
	mu sync.Mutex
	at []time.Time
}

var shared = &http.Transport{MaxIdleConnsPerHost: 2 * crowd}

// RoundTrip notes the time and passes on.
func (a *attempts) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/relay/poll" {
		a.mu.Lock()
		a.at = append(a.at, time.Now())
		a.mu.Unlock()
	}
	return shared.RoundTrip(r)
}

// check counts attempts per second from five seconds into the outage to its end. Nodes
// that come in the same moment are all in one second; a machine that stands still for
// a while gathers those of that while. How even they are is told in node/internal/mailbox.
func (a *attempts) check(t *testing.T, down, back time.Time) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	begin, end := down.Add(5*time.Second), down.Add(outage)
	bins := make([]int, int(end.Sub(begin)/time.Second))
	total, peak := 0, 0
	for _, at := range a.at {
		if i := int(at.Sub(begin) / time.Second); !at.Before(begin) && i < len(bins) {
			bins[i]++
			total++
			peak = max(peak, bins[i])
		}
	}
	t.Logf("attempts in each second of the outage from the fifth on: %v", bins)
	if total < crowd || peak > crowd*4/5 {
		t.Errorf("%d attempts, at most %d in a second, want more than one of each node, and never nearly all at once", total, peak)
	}
}
