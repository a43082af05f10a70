package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// idle watches a node that serves a capability and is not called.
func idle(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{})
	n := provider(t, h.Hub)
	time.Sleep(5 * time.Second) // what the start leaves behind is no idling
	began, hubBegan := cpu(n.PID()), spentBy(h)
	var rss sample
	for end := time.Now().Add(o.Idle); time.Now().Before(end); time.Sleep(o.Idle / 20) {
		rss = append(rss, resident(n.PID()))
	}
	percent := func(seconds float64) float64 { return 100 * seconds / o.Idle.Seconds() }
	used := percent(cpu(n.PID()) - began)
	var hub spent
	hub.add(hubBegan, spentBy(h))
	return []Row{
		{What: "idle node, memory", Measured: fmt.Sprintf("%.1f MB", rss.at(1)), Target: "< 20 MB", Pass: rss.at(1) < 20,
			Note: fmt.Sprintf("resident, the largest of %d looks; median %.1f MB", len(rss), rss.median())},
		{What: "idle node, CPU", Measured: fmt.Sprintf("%.3f %%", used), Target: "< 0.1 %", Pass: used < 0.1,
			Note: fmt.Sprintf("of one core over %s; the idle hub took %.2f %%, its PostgreSQL %.2f %%", o.Idle, percent(hub.hub), percent(hub.database))},
	}
}
