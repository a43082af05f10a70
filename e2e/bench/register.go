package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/wire"
)

// freely lifts the limits that many nodes on one address would run into.
var freely = []string{"--register-rate", "1e9", "--register-burst", "1000000000", "--relay-send-rate", "1e6", "--relay-send-burst", "1000000",
	"--settle-rate", "1e9", "--settle-burst", "1000000000"}

// turns is how many registrations a side works through in a turn.
const turns = 3000

// register compares registrations of nodes nobody knew with the same once more:
// nodes as they are, with a key set, and a card of eight capabilities. Requests
// are signed before the clock runs.
func register(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{Args: freely})
	var fresh, again sample
	var freshCost, againCost spent
	for range o.Rounds {
		nodes := applicants(t, h.Hub, turns)
		first, twice := nodes.requests(t), append(nodes.requests(t), nodes.requests(t)...)
		lines := dial(t, h.URL, o.Workers) // now: one that is idle for long is hung up
		before := spentBy(h)
		fresh = append(fresh, drain(t, lines, first))
		between := spentBy(h)
		again = append(again, drain(t, lines, twice))
		freshCost.add(before, between)
		againCost.add(between, spentBy(h))
		say("  new %.0f/s, unchanged %.0f/s", fresh[len(fresh)-1], again[len(again)-1])
	}
	ratio, n := again.over(fresh), float64(o.Rounds*turns)
	return []Row{
		{What: "registrations, new", Measured: fresh.String() + "/s", Target: "≥ 1,000/s", Pass: fresh.median() >= 1000,
			Goal: "2,000/s", Met: fresh.median() >= 2000, Note: "each with a key set and a card of eight skills, " + freshCost.each(n)},
		{What: "registrations, unchanged to new", Measured: ratio.with("%.1f"), Target: "≥ 5", Pass: ratio.median() >= 5,
			Note: again.String() + "/s unchanged, " + againCost.each(2*n)},
	}
}

// applicant is a node that registers, with the body of its registration.
type applicant struct {
	*stage.Agent
	body []byte
}

type crowd []applicant

// applicants makes nodes nobody knows.
func applicants(t testing.TB, h *stage.Hub, n int) crowd {
	nodes := make(crowd, n)
	for i := range nodes {
		a := stage.NewAgent(t, h)
		body, err := registration(a, i, 1)
		stage.Must(t, err)
		nodes[i] = applicant{a, body}
	}
	return nodes
}

func registration(a *stage.Agent, i int, seq int64) ([]byte, error) {
	now := time.Now()
	p := card.Profile{AID: a.AID(), HubURL: "https://hub.example.org", Name: "bench"}
	for j := range 8 {
		p.Skills = append(p.Skills, card.Skill{ID: fmt.Sprintf("bench.c%d", (8*i+j)%1000)})
	}
	unsigned, err := p.Build(card.Stamp{Seq: seq, IssuedAt: now.UnixMilli(), NotBefore: now.UnixMilli() - 60_000})
	if err != nil {
		return nil, err
	}
	body := a.Registration()
	if body.A2ACard, err = card.Sign(a.Controller, unsigned, ""); err != nil {
		return nil, err
	}
	var ring enckeys.Ring
	if ring, _, err = ring.Advance(now); err != nil {
		return nil, err
	}
	if _, body.EncKeys, err = ring.Publish(a.Controller, now); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// requests signs the registration of each once more.
func (c crowd) requests(t testing.TB) [][]byte {
	out := make([][]byte, len(c))
	for i, a := range c {
		out[i] = request(t, a.Request(wire.ActionRegister, "/register", a.body))
	}
	return out
}

// drain works through requests and gives how many a second that were.
func drain(t testing.TB, lines []*line, requests [][]byte) float64 {
	var next atomic.Int64
	start := time.Now()
	_, err := flood(len(lines), time.Hour, func(worker int) error {
		i := int(next.Add(1)) - 1
		if i >= len(requests) {
			return errDrained
		}
		_, err := lines[worker].ask(requests[i])
		return err
	})
	if err != errDrained {
		stage.Must(t, err)
	}
	return float64(len(requests)) / time.Since(start).Seconds()
}

var errDrained = fmt.Errorf("nothing left to ask")

// rnd is there for bodies nobody reads.
func rnd(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
