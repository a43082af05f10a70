package learned

import (
	"context"
	"strings"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
)

// Scout finds out what it would mean to federate with a hub, before anything of it
// is learned and before it learns anything of this one.
type Scout struct {
	Vetter
	Records Looker
	Here    Here
	Net     Net
	Room    Room // what one peer may teach
}

// Here knows the agents of this hub.
type Here interface {
	// Locals gives the agents here that have one of the AIDs, or one of the names in
	// any case.
	Locals(ctx context.Context, aids, names []string) ([]Local, error)
	// Exposure counts them.
	Exposure(ctx context.Context) (Exposure, error)
}

// Local is an agent of this hub.
type Local struct{ AID, Name string }

// Exposure is how many agents of this hub others may learn of, and how many there
// are, whom mail can be sent to.
type Exposure struct{ Federated, Registered int64 }

// scoutPages of each stream are read: enough to know whom one would deal with.
const scoutPages = 5

// Outlook is what federating would mean.
type Outlook struct {
	Streams []Sight
	Agents  []Seen
	Exposure
}

// Sight is what stands in a stream, as far as it was read.
type Sight struct {
	Stream  Stream
	Code    string // why it could not be read; stream_closed and stream_missing are the peer's choice
	Says    string
	Entries int
	More    bool // it goes on
}

// Seen is an agent that the peer tells of.
type Seen struct {
	AID      string
	Name     string // empty where nothing of it verified
	Skills   []string
	Step     Step
	Reason   string // why it is not taken
	Says     string
	Namesake string // an agent of this hub with the same name
}

// Look reads the first pages of what a peer tells, and judges them by the very
// rules that entries are taken by. What of it is wanted depends on the entry.
func (s Scout) Look(ctx context.Context, p peers.Peer) (o Outlook, err error) {
	if o.Exposure, err = s.Here.Exposure(ctx); err != nil || !p.Discovery {
		return o, err
	}
	seen := map[string]bool{}
	for _, stream := range []Stream{peers.Cards, peers.ADPCards, peers.Reviews} {
		sight, list, err := s.read(ctx, p, stream)
		if err != nil {
			return o, err
		}
		o.Streams = append(o.Streams, sight)
		for _, a := range list {
			if a.AID == "" || !seen[a.AID] {
				seen[a.AID] = true
				o.Agents = append(o.Agents, a)
			}
		}
	}
	return o, s.compare(ctx, o.Agents)
}

// read is an error only where this hub fails: what the peer does is part of the
// outlook.
func (s Scout) read(ctx context.Context, p peers.Peer, stream Stream) (sight Sight, out []Seen, err error) {
	sight, from := Sight{Stream: stream, More: true}, Source{Peer: p.ID, Stream: stream, Endpoint: p.Endpoint}
	after := int64(0)
	for range scoutPages {
		body, err := s.page(ctx, from, after)
		if err != nil {
			return sight.failed(err), out, ctx.Err()
		}
		page, err := readPage(body, after)
		if err != nil {
			return sight.failed(err), out, nil
		}
		sight.Entries += len(page.Cards) + len(page.Reviews)
		if page.end {
			sight.More = false
			break
		}
		list, err := s.judge(ctx, from, body, after)
		if err != nil {
			return sight, out, err
		}
		out, after = append(out, list...), page.Cursor
	}
	return sight, out, nil
}

func (s Sight) failed(err error) Sight {
	s.Code, s.Says, s.More = reasonOf(err), "something went wrong on the way", false
	if e := errs.As(err); e != nil {
		s.Says = e.Message // and nothing that the peer wrote
	}
	return s
}

func (s Scout) page(ctx context.Context, from Source, after int64) ([]byte, error) {
	status, body, err := s.Net.Get(ctx, pageURL(from.Endpoint, from.Stream, after), streams[from.Stream].most)
	switch {
	case err != nil:
		return nil, err
	case status == unknownPath:
		return nil, errs.New(errs.NotFound, "stream_missing", "the peer has no such stream")
	case status == closedPath:
		return nil, errs.New(errs.Forbidden, "stream_closed", "the peer tells of none of its agents")
	case status != answered:
		return nil, errs.New(errs.BadGateway, "peer_refused", "the peer answered with status %d", status)
	}
	return body, nil
}

func (s Scout) judge(ctx context.Context, from Source, body []byte, after int64) (out []Seen, err error) {
	if from.Stream == peers.Reviews {
		return nil, nil
	}
	_, list, err := s.Preview(ctx, s.Records, from, body, after, s.Room)
	for _, p := range list {
		out = append(out, Seen{
			AID: p.AID, Name: p.Agent.Card.Name, Skills: p.Agent.Card.Skills,
			Step: p.Step, Reason: p.Reason, Says: p.Says,
		})
	}
	return out, err
}

// compare names those who are called like an agent of this hub, and gives those
// who are here the name they have here.
func (s Scout) compare(ctx context.Context, list []Seen) error {
	var aids, names []string
	for _, a := range list {
		aids = append(aids, a.AID)
		if a.Name != "" {
			names = append(names, strings.ToLower(a.Name))
		}
	}
	locals, err := s.Here.Locals(ctx, aids, names)
	if err != nil {
		return err
	}
	byAID, byName := map[string]Local{}, map[string]Local{}
	for _, l := range locals {
		byAID[l.AID], byName[strings.ToLower(l.Name)] = l, l
	}
	for i := range list {
		a := &list[i]
		if l, here := byAID[a.AID]; here {
			a.Name = l.Name
		} else if a.Name != "" {
			a.Namesake = byName[strings.ToLower(a.Name)].AID
		}
	}
	return nil
}
