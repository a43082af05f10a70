package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
	"github.com/anet-hub/anet/shared/wire"
)

// polls registers many nodes and lets all of them wait for mail, each on a
// connection of its own, then looks at the hub and sends to one after the other.
func polls(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{Args: freely})
	empty := resident(h.PID())
	nodes := make(crowd, o.Polls)
	for i := range nodes {
		a := stage.NewAgent(t, h.Hub)
		body, err := json.Marshal(a.Registration("bench.wait"))
		stage.Must(t, err)
		nodes[i] = applicant{a, body}
	}
	say("  registering %d nodes", o.Polls)
	drain(t, dial(t, h.URL, o.Workers), nodes.requests(t))
	r := &room{nodes: nodes, lines: dial(t, h.URL, o.Polls), arrived: make(chan time.Time, o.Polls)}
	var g errgroup.Group
	for i := range nodes {
		g.Go(func() error { return r.wait(i) })
	}
	stage.Until(t, time.Minute, "all polls wait", func() bool {
		return stage.Metric(t, h.Hub, "anet_hub_relay_polls_waiting") == float64(o.Polls)
	})
	time.Sleep(2 * time.Second) // what the registrations left behind settles
	held, busy := connections(t, h)
	rss := resident(h.PID())
	took := r.deliver(t, h.Hub, 200)
	r.over.Store(true)
	_, err := h.Stop(t) // ends the polls
	stage.Must(t, err)
	stage.Must(t, g.Wait())
	ms := millis(took)
	return []Row{
		{What: fmt.Sprintf("%d waiting polls, memory of the hub", o.Polls), Measured: fmt.Sprintf("%.0f MB", rss), Target: "< 1 GiB", Pass: rss < 1024,
			Note: fmt.Sprintf("%.0f MB before the first of them registered", empty)},
		{What: fmt.Sprintf("%d waiting polls, connections in use", o.Polls), Measured: fmt.Sprint(busy), Target: "0", Pass: busy == 0,
			Note: fmt.Sprintf("%d connections of the hub's are open, none of them belongs to a poll", held)},
		{What: "a message to one of them", Measured: fmt.Sprintf("%.1f ms", ms.median()), Target: "–", Pass: true, Goal: "< 50 ms", Met: ms.at(0.99) < 50,
			Note: fmt.Sprintf("%d messages, from before the signature of the send to the answer of the poll; p99 %.1f ms", len(ms), ms.at(0.99))},
	}
}

// room is where nodes wait.
type room struct {
	nodes   crowd
	lines   []*line
	arrived chan time.Time
	over    atomic.Bool
}

// wait polls and acknowledges until the room is over.
func (r *room) wait(i int) error {
	c := cycle{r.nodes[i].Agent, r.lines[i]}
	for !r.over.Load() {
		// A request that meets the end of its connection half-way is no failure
		// once the hub was told to stop.
		if err := r.poll(c); err != nil && !r.over.Load() {
			return err
		}
	}
	return nil
}

func (r *room) poll(c cycle) error {
	page, err := c.ask(wire.ActionPoll, []byte(`{"wait_ms":55000}`))
	if err != nil {
		return fmt.Errorf("poll: %w", err)
	}
	var polled wire.Polled
	if err := json.Unmarshal(page, &polled); err != nil || len(polled.Messages) == 0 {
		return err
	}
	r.arrived <- time.Now()
	_, err = c.ask(wire.ActionAck, fmt.Appendf(nil, `{"ids":[%d]}`, polled.Messages[0].ID))
	return err
}

// deliver sends to nodes drawn by lot, one after the other.
func (r *room) deliver(t testing.TB, h *stage.Hub, n int) []time.Duration {
	from := cycle{r.nodes[0].Agent, dial(t, h.URL, 1)[0]}
	took := make([]time.Duration, n)
	for i := range took {
		node := rand.IntN(len(r.nodes))
		to := r.nodes[node].AID()
		body, err := json.Marshal(wire.Send{ToAID: to, Envelope: stage.Sealed(to, mailSize)})
		stage.Must(t, err)
		begin := time.Now()
		_, err = from.ask(wire.ActionSend, body)
		stage.Must(t, err)
		select {
		case at := <-r.arrived:
			took[i] = at.Sub(begin)
		case <-time.After(5 * time.Second):
			t.Fatalf("message %d did not arrive", i)
		}
	}
	return took
}

// connections counts the hub's sessions in its database, and those that do
// something or hold a transaction open.
func connections(t testing.TB, h *stage.HubProcess) (open, busy int) {
	url, err := bench.DatabaseURL(h.Config.DataDir)
	stage.Must(t, err)
	stage.Must(t, connect(t, url, 1)[0].QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE state <> 'idle')
		FROM pg_stat_activity WHERE application_name = 'anet-hub'`).Scan(&open, &busy))
	return open, busy
}
