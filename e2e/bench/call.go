package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/testkit/need"
)

const called = "text.wordcount"

// provider is a node that serves the example program to everybody, as often as
// anybody likes.
func provider(t testing.TB, h *stage.Hub) *stage.Node {
	t.Helper()
	socket := filepath.Join(need.SocketDir(t), "text.sock")
	p := stage.Start(t, stage.Command{Name: "text-service", Path: stage.Binary(t, "text-service"), Args: []string{"--socket", socket}})
	stage.Until(t, stage.Patience, "the program listens", func() bool { return strings.Contains(p.Log(), "listening") })
	return stage.StartNode(t, h, stage.NodeConfig{
		Name: "desk", Programs: map[string]string{called: "unix://" + socket},
		Public: []any{map[string]any{"id": called, "per_caller_per_min": 100_000, "per_caller_per_day": 1_000_000, "global_per_min": 100_000}},
	})
}

// call has one node call a capability of another through a hub, ten times a
// second: over the node's control socket, which is what the network takes, and
// with the command line around it.
func call(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{})
	desk := provider(t, h.Hub)
	caller := stage.StartNode(t, h.Hub, stage.NodeConfig{Name: "caller"})
	c := newController(caller)
	took, err := pace(1, time.Duration(o.Rounds)*o.Time, 10, func(int) error { return c.call(desk.AID) })
	stage.Must(t, err)
	typed, err := timed(20, func(int) error {
		task, code := caller.Call(desk.AID, called, `{"text":"one two three"}`)
		if code != 0 {
			return fmt.Errorf("exit %d: %s", code, stage.Outcome(task))
		}
		return nil
	})
	stage.Must(t, err)
	ms := millis(took)
	return []Row{
		{What: "capability call, median", Measured: fmt.Sprintf("%.1f ms", ms.median()), Target: "< 15 ms", Pass: ms.median() < 15,
			Note: fmt.Sprintf("%d calls with verified receipts, from the order at the caller's socket to the verified result; %s as a command of its own",
				len(ms), millis(typed).with("%.0f")+" ms")},
		{What: "capability call, p99", Measured: fmt.Sprintf("%.1f ms", ms.at(0.99)), Target: "–", Pass: true, Goal: "< 50 ms", Met: ms.at(0.99) < 50},
	}
}

// controller asks a running node over its socket.
type controller struct{ http.Client }

func newController(n *stage.Node) *controller {
	socket := filepath.Join(n.Dir, "anet.sock")
	return &controller{http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}}
}

// call starts a task and waits for its end.
func (c *controller) call(aid string) error {
	var task app.Task
	order := app.Order{Provider: aid, Capability: called, Args: json.RawMessage(`{"text":"one two three"}`)}
	err := c.ask("start_task", order, &task)
	for err == nil && !task.Ended {
		err = c.ask("wait", map[string]any{"id": task.ID, "seen": task.Version, "wait_ms": 20_000}, &task)
	}
	if err == nil && stage.Outcome(task) != "completed OK verified" {
		err = fmt.Errorf("the call ended with %s", stage.Outcome(task))
	}
	return err
}

func (c *controller) ask(operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	resp, err := c.Post("http://node/v1/"+operation, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %s (%w)", operation, resp.Status, answer, err)
	}
	return json.Unmarshal(answer, out)
}
