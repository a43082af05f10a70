package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// network is what the demo runs.
type network struct {
	bin       string
	nodes     string // folder of the nodes and their programs
	hubDir    string
	hub, text *process
	url       string // of the hub
	provider  agent
	caller    agent
	up        []agent // those that were started
	listen    string  // where the hub is to listen
	prices    map[string]int
}

// publicURL is what the demo's hub tells as its address. A card never names a
// hub on this machine, which would be somebody else's for every reader of it.
const publicURL = "https://hub.demo.example"

func newNetwork(bin, listen string) (*network, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	for _, program := range []string{"anet", "anet-hub", "text-service"} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			return nil, fmt.Errorf("%w (make build makes the programs)", err)
		}
	}
	nodes, hub, err := newFolders()
	if err != nil {
		return nil, err
	}
	n := &network{bin: bin, nodes: nodes, hubDir: hub, listen: listen}
	n.provider, n.caller = n.agent("provider"), n.agent("caller")
	return n, nil
}

func (n *network) agent(name string) agent {
	return agent{name: name, dir: filepath.Join(n.nodes, name), anet: filepath.Join(n.bin, "anet")}
}

// start brings everything up: the hub, the program behind the capabilities, and
// both nodes.
func (n *network) start(ctx context.Context) error {
	if err := n.startHub(ctx); err != nil {
		return err
	}
	if err := n.startText(ctx); err != nil {
		return err
	}
	if err := n.startNode(ctx, n.provider, "text.digest", "text.wordcount"); err != nil {
		return err
	}
	return n.startNode(ctx, n.caller)
}

// data is the folder of the hub's data.
func (n *network) data() string { return filepath.Join(n.hubDir, "data") }

func (n *network) startHub(ctx context.Context) (err error) {
	say("a hub, on a PostgreSQL of its own")
	n.hub, err = start("hub", filepath.Join(n.hubDir, "hub.log"), filepath.Join(n.bin, "anet-hub"),
		"serve", "--listen", n.listen, "--public-url", publicURL, "--data-dir", n.data())
	if err != nil {
		return err
	}
	if err := n.hub.until(ctx, "it told its address", func() bool { n.url = listening(n.hub.log); return n.url != "" }); err != nil {
		return err
	}
	if err := n.hub.until(ctx, "it was ready", func() bool { return ready(ctx, n.url) }); err != nil {
		return err
	}
	fmt.Println("hub    ", n.url)
	return nil
}

// listening reads the address from the hub's log.
func listening(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Msg, Listen string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "hub is up" {
			return "http://" + line.Listen
		}
	}
	return ""
}

func ready(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (n *network) socket() string { return filepath.Join(n.nodes, "text", "text.sock") }

func (n *network) startText(ctx context.Context) (err error) {
	say("a program that digests texts, on a Unix socket")
	n.text, err = start("text-service", filepath.Join(n.nodes, "text-service.log"), filepath.Join(n.bin, "text-service"), "--socket", n.socket())
	if err != nil {
		return err
	}
	return n.text.until(ctx, "it listened", func() bool { _, err := os.Stat(n.socket()); return err == nil })
}

// startNode makes a node, says what it serves, joins the hub and runs it.
func (n *network) startNode(ctx context.Context, a agent, serves ...string) error {
	say("a node, " + a.name)
	if _, err := a.run(ctx, "init", "--name", a.name); err != nil {
		return err
	}
	if err := n.configure(a, serves...); err != nil {
		return err
	}
	if _, err := a.run(ctx, "join", n.url); err != nil {
		return err
	}
	return n.runNode(ctx, a)
}

func (n *network) runNode(ctx context.Context, a agent) error {
	n.up = append(n.up, a)
	out, err := a.run(ctx, "up", "--detach")
	fmt.Print(out)
	return err
}

// configure writes the one file in which an operator says what a node serves
// and to whom.
func (n *network) configure(a agent, serves ...string) error {
	type object = map[string]any
	conf := object{"name": a.name, "tags": []string{"demo"}}
	if n.url != "" {
		conf["hub_url"] = n.url
	}
	var public, programs []object
	for _, id := range serves {
		public = append(public, object{"id": id, "max_args_bytes": 1 << 20})
		programs = append(programs, object{"id": id, "url": "unix://" + n.socket(), "description": "Answers " + id + " of args.text.", "price": n.prices[id]})
	}
	if len(serves) > 0 {
		conf["inbound"] = object{"policy": "closed", "public_capabilities": public}
		conf["modules"] = object{"service": object{"capabilities": programs}}
	}
	text, err := json.MarshalIndent(conf, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(a.dir, "config.json"), text, 0o600)
}

// stop stops what runs, the last started first, and removes the folders.
func (n *network) stop() error {
	var problems []error
	for i := len(n.up) - 1; i >= 0; i-- {
		if _, err := n.up[i].run(context.Background(), "down"); err != nil {
			problems = append(problems, err)
		}
	}
	for _, p := range []*process{n.text, n.hub} {
		if p != nil {
			problems = append(problems, p.stop())
		}
	}
	return errors.Join(append(problems, os.RemoveAll(n.nodes), os.RemoveAll(n.hubDir))...)
}

// showLogs prints the ends of all logs, for a demo that failed.
func (n *network) showLogs() {
	logs := []string{filepath.Join(n.hubDir, "hub.log"), filepath.Join(n.nodes, "text-service.log"), n.provider.log(), n.caller.log()}
	for _, log := range logs {
		if _, err := os.Stat(log); err == nil {
			fmt.Fprintf(os.Stderr, "--- the end of %s\n%s\n", log, tail(log, 20))
		}
	}
}

// leaveRunning says where everything is and how to end it.
func (n *network) leaveRunning() error {
	script := filepath.Join(n.hubDir, "stop.sh")
	var b strings.Builder
	fmt.Fprintln(&b, "#!/bin/sh\n# Stops this network and removes its folders.")
	for _, a := range n.up {
		fmt.Fprintf(&b, "'%s' --data-dir '%s' down\n", a.anet, a.dir)
	}
	fmt.Fprintf(&b, "kill %d %d\n", n.text.pid(), n.hub.pid())
	fmt.Fprintf(&b, "while kill -0 %d 2>/dev/null; do sleep 0.1; done\nrm -rf '%s' '%s'\n", n.hub.pid(), n.nodes, n.hubDir)
	if err := os.WriteFile(script, []byte(b.String()), 0o700); err != nil {
		return err
	}
	return n.tell(script)
}

// tell prints lines that can be typed as they stand.
func (n *network) tell(stop string) error {
	id, err := n.provider.aid()
	if err != nil {
		return err
	}
	fmt.Printf(`
The network runs. As anybody:

  curl '%s/agents?cap=text.*'

As the node "caller":

  export PATH="%s:$PATH" ANET_DATA_DIR="%s"
  anet find --cap text.digest
  anet delegate %s --capability text.digest --args '{"text":"hello"}' --wait 30s

The node "provider", whose config.json says what is served, lies in
%s.

As the operator of the hub, with the PATH from above:

  anet-hub credit audit --data-dir %s

To stop everything and remove its folders:

  sh %s
`, n.url, n.bin, n.caller.dir, id, n.provider.dir, n.data(), stop)
	return nil
}

func say(what string) { fmt.Printf("\n== %s\n", what) }
