package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/plain"
)

// outlookView is what federating would mean, as --json prints it.
type outlookView struct {
	peerView
	Streams    []sightView `json:"streams"`
	Agents     []seenView  `json:"agents"`
	Federated  int64       `json:"federated"`  // agents here that the peer would learn of
	Registered int64       `json:"registered"` // agents here that it could send to
}

type sightView struct {
	Stream  peers.Stream `json:"stream"`
	Entries int          `json:"entries"`
	More    bool         `json:"more"` // it goes on behind them
	Code    string       `json:"code"` // why it could not be read
	Error   string       `json:"error"`
}

type seenView struct {
	AID      string   `json:"aid"`
	Name     string   `json:"name"`
	Skills   []string `json:"skills"`
	Becomes  string   `json:"becomes"` // taken, held, refused, …
	Code     string   `json:"code"`    // why not taken
	Reason   string   `json:"reason"`
	Namesake string   `json:"namesake"` // an agent here with the same name
}

func (p *Program) showOutlook(ctx context.Context, j *job, peer peers.Peer) error {
	o, err := j.Scout.Look(ctx, peer)
	if err != nil {
		return err
	}
	v := outlookView{peerView: p.viewPeer(peers.Standing{Peer: peer}), Federated: o.Federated, Registered: o.Registered,
		Streams: []sightView{}, Agents: []seenView{}}
	for _, s := range o.Streams {
		v.Streams = append(v.Streams, sightView{s.Stream, s.Entries, s.More, s.Code, s.Says})
	}
	for _, a := range o.Agents {
		v.Agents = append(v.Agents, seenView{a.AID, a.Name, append([]string{}, a.Skills...), a.Step.String(), a.Reason, a.Says, a.Namesake})
	}
	return p.show(v, v.text)
}

func (v outlookView) text(w io.Writer) {
	v.offer(w)
	fmt.Fprintf(w, "\nwould learn of\t%s\ncould send to\t%s\nwould be listed here\t%s\n", v.exposed(), v.reachable(), v.imported())
	for _, s := range v.Streams {
		fmt.Fprintf(w, "stream %s\t%s\n", s.Stream, s.says())
	}
	v.list(w, "would be listed", func(a seenView) (string, bool) { return "", a.taken() && a.Namesake == "" })
	v.list(w, "the same name here", func(a seenView) (string, bool) { return "as " + a.Namesake, a.Namesake != "" })
	v.list(w, "registered here", func(a seenView) (string, bool) { return "its own record counts", a.here() })
	v.list(w, "would be refused", func(a seenView) (string, bool) { return a.Code + ": " + a.Reason, a.Code != "" && !a.here() })
}

func (a seenView) taken() bool { return a.Becomes == learned.Take.String() }

func (a seenView) here() bool { return a.Code == learned.RegisteredHere }

func (v outlookView) exposed() string {
	if !v.Discovery {
		return "nobody by this entry: discovery is off"
	}
	return fmt.Sprintf("%d agents here that may be told of, like everyone who asks", v.Federated)
}

func (v outlookView) reachable() string {
	if !v.Delivery {
		return "nobody: delivery is off"
	}
	return fmt.Sprintf("%d agents, all that are registered here, within the limits of their mailboxes", v.Registered)
}

func (v outlookView) imported() string {
	if !v.Discovery {
		return "nobody: discovery is off"
	}
	n, more := 0, ""
	for _, a := range v.Agents {
		if a.taken() {
			n++
		}
	}
	for _, s := range v.Streams {
		if s.More {
			more = ", as far as was looked"
		}
	}
	return fmt.Sprintf("%d agents%s", n, more)
}

func (s sightView) says() string {
	switch {
	case s.Code != "":
		return s.Code + ": " + plain.Line(s.Error)
	case s.More:
		return fmt.Sprintf("%d entries were looked at, and there are more", s.Entries)
	}
	return fmt.Sprintf("%d entries", s.Entries)
}

// shownOfEach is how many agents the text names of a kind; --json has them all.
const shownOfEach = 20

func (v outlookView) list(w io.Writer, title string, picked func(seenView) (string, bool)) {
	n := 0
	for _, a := range v.Agents {
		says, is := picked(a)
		if !is {
			continue
		}
		if n++; n <= shownOfEach {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", title, orDash(plain.Line(a.AID)), orDash(plain.Line(a.Name)), plain.Line(says))
		}
	}
	if n > shownOfEach {
		fmt.Fprintf(w, "%s\tand %d more: see --json\n", title, n-shownOfEach)
	}
}
