package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/listing"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/version"
	"github.com/anet-hub/anet/shared/wire"
)

// State is what status prints: the node's own answer, or what can be seen from
// outside while it is down.
type State struct {
	Up      bool `json:"up"`
	Joined  bool `json:"joined"`
	Differs bool `json:"differs"`
	node.Status
}

func (p *Program) statusCommand() *cobra.Command {
	c := command("status", "What the node serves now, what the hub lists, and the difference", none,
		func(cmd *cobra.Command, _ []string) error {
			s, err := p.state(cmd.Context())
			if err != nil {
				return err
			}
			if err := p.show(s, s.print); err != nil {
				return err
			}
			return exitWith(s.exit())
		})
	c.Long = `Status tells what the node serves at this moment and what its hub lists of it.
While the node is down nothing is served, so whatever the hub lists besides its
tags is a difference. Where the hub cannot be asked, nobody knows whether there is
one.`
	exiting(c, means(exitDifference, "the hub lists something else than is served"),
		means(exitRefused, "the hub cannot be asked"))
	return example(c, "anet status", "anet status --json")
}

// exit is no success where the hub could not be asked: a script that waits for
// the listing to be right must not go on.
func (s State) exit() int {
	switch {
	case s.Differs:
		return exitDifference
	case s.Joined && s.Listed == nil:
		return exitRefused
	}
	return exitDone
}

func (p *Program) state(ctx context.Context) (s State, err error) {
	err = p.either(ctx,
		func(c *control.Client) error { s, err = working(ctx, c); return err },
		func(dir datadir.Dir) error { s, err = p.atRest(ctx, dir); return err })
	return s, err
}

func working(ctx context.Context, c *control.Client) (State, error) {
	s, err := c.Status(ctx)
	return State{Up: true, Joined: s.Hub != "", Differs: s.Differs(), Status: s}, err
}

// atRest is the state of a node that does not run, from its files and its hub.
func (p *Program) atRest(ctx context.Context, dir datadir.Dir) (State, error) {
	keys, err := keyring.Look(dir)
	if err != nil {
		return State{}, err
	}
	conf, err := config.Load(dir)
	if err != nil {
		return State{}, err
	}
	pin, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return State{}, err
	}
	s := State{Joined: joined, Status: node.Status{
		AID: keys.AID, Name: conf.Name, Version: version.String(), Policy: string(conf.Inbound.Policy), Hub: pin.URL,
		Visibility: string(conf.Visibility),
		Served:     []string{}, Public: []string{}, Tags: conf.Tags, Missing: []string{}, Surplus: []string{},
		Providers: []node.Health{}, Dropped: map[string]int{},
	}}
	if joined {
		s.compare(ctx, pin, conf)
	}
	return s, nil
}

// compare asks the hub what it lists of a node that serves nothing.
func (s *State) compare(ctx context.Context, pin hubclient.Pin, conf *config.Config) {
	ctx, cancel := glance(ctx)
	defer cancel()
	listed, err := s.listed(ctx, pin)
	if err != nil {
		s.HubError = err.Error()
		return
	}
	s.Registered, s.HubVisibility = listed.Registered, listed.Visibility
	if !listed.Listed {
		listed.Caps = nil // its page tells them, and no list does
	}
	s.Listed = append([]string{}, listed.Caps...)
	offer := *conf
	offer.Inbound = config.Inbound{Policy: config.Closed}
	if s.Registered {
		s.Missing, s.Surplus = listing.Of(&offer, &provider.Registry{}, "").Compare(listed)
	}
	s.Differs = s.Status.Differs()
}

func (s *State) listed(ctx context.Context, pin hubclient.Pin) (wire.Agent, error) {
	c, err := hubclient.New(hubclient.Options{Hub: pin})
	if err != nil {
		return wire.Agent{}, err
	}
	defer c.Close()
	page, err := c.Agent(ctx, s.AID)
	if errs.KindOf(err) == errs.NotFound {
		return wire.Agent{}, nil
	}
	return page.Agent, err
}

func (s State) print(w io.Writer) {
	fmt.Fprintf(w, "node\t%s %s\n", s.AID, line(s.Name))
	s.printLife(w)
	fmt.Fprintf(w, "hub\t%s\n", s.hub())
	fmt.Fprintf(w, "policy\t%s\n", s.Policy)
	fmt.Fprintf(w, "visibility\t%s\n", s.visibility())
	fmt.Fprintf(w, "serves\t%s\n", words(s.Served))
	fmt.Fprintf(w, "public\t%s\n", words(s.Public))
	fmt.Fprintf(w, "tags\t%s\n", words(s.Tags))
	s.printListed(w)
	if s.CardProblem != "" && s.Visibility == string(config.HubLocal) { // else its visibility tells
		fmt.Fprintf(w, "card\t%s\n", line(s.CardProblem))
	}
	for _, h := range s.Providers {
		fmt.Fprintf(w, "provider\t%s: %s\n", h.ID, healthy(h))
	}
	if s.Up {
		s.printWork(w)
	}
}

func healthy(h node.Health) string {
	if h.Error == "" {
		return "answers"
	}
	return line(h.Error)
}

func (s State) printLife(w io.Writer) {
	switch {
	case !s.Up:
		fmt.Fprintf(w, "state\tnot running; start it: anet up --detach\n")
	case s.Stopped != "":
		fmt.Fprintf(w, "state\trunning, but it has given up receiving: %s\n", line(s.Stopped))
	default:
		fmt.Fprintf(w, "state\trunning since %s, version %s\n", clock(s.Started), s.Version)
	}
}

func (s State) hub() string {
	switch {
	case !s.Joined:
		return "none; run: anet join URL"
	case s.HubError != "":
		return line(s.Hub + ", which does not answer: " + s.HubError)
	case s.RegisterError != "":
		return line(s.Hub + ", not registered: " + s.RegisterError)
	case !s.Registered:
		return line(s.Hub) + ", not registered"
	}
	return line(s.Hub)
}

func (s State) visibility() string {
	switch {
	case s.OtherVisibility():
		return line(s.Visibility + "; the hub has " + s.HubVisibility + " (register again: anet hub-register)")
	case s.CardProblem != "" && s.Visibility != string(config.HubLocal):
		return line(s.Visibility + "; other hubs hear of cards alone, and " + s.CardProblem)
	case s.Up && len(s.Public) == 0 && s.Policy == string(config.Closed) && s.Visibility != string(config.HubLocal):
		return line(s.Visibility + "; other hubs hear of cards alone, and a node that offers strangers nothing has none")
	}
	return s.Visibility
}

func (s State) printListed(w io.Writer) {
	if s.Listed == nil {
		fmt.Fprintf(w, "listed\tunknown\n")
		return
	}
	fmt.Fprintf(w, "listed\t%s\n", words(s.Listed))
	switch {
	case s.Unlisted != "": // says what to do
		fmt.Fprintf(w, "missing\t%s\nunlisted\t%s\n", words(s.Missing), line(s.Unlisted))
	case len(s.Missing) > 0:
		fmt.Fprintf(w, "missing\t%s (not listed; register again: anet hub-register)\n", words(s.Missing))
	}
	if len(s.Surplus) > 0 {
		fmt.Fprintf(w, "surplus\t%s (listed, and nobody answers it)\n", words(s.Surplus))
	}
}

func (s State) printWork(w io.Writer) {
	fmt.Fprintf(w, "registered\t%s\n", clockOf(s.LastRegistered))
	fmt.Fprintf(w, "last poll\t%s\n", clockOf(s.LastPoll))
	if s.PollError != "" {
		fmt.Fprintf(w, "poll\t%s\n", line(s.PollError))
	}
	fmt.Fprintf(w, "tasks\t%d open, %d running, %d messages to send, %d undecided\n", s.Open, s.Running, s.Outbox, s.Waiting)
	if r := s.Strangers; r != nil {
		fmt.Fprintf(w, "strangers\t%d of %d tasks without an end, %s of %s kept%s\n", r.Tasks, r.MaxTasks,
			humanize.IBytes(uint64(r.Bytes)), humanize.IBytes(uint64(r.MaxBytes)), nearly(r))
	}
	if len(s.Dropped) > 0 {
		fmt.Fprintf(w, "dropped\t%s\n", counts(s.Dropped))
	}
}

func nearly(r *node.Strangers) string {
	if r.Full() {
		return "; beyond that they are refused: anet inbox --open, anet end TASK"
	}
	return ""
}

func counts(m map[string]int) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", line(k), m[k]))
	}
	return strings.Join(parts, ", ")
}
