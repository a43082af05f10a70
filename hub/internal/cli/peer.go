package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) peerCommands() *cobra.Command {
	return cmdline.Group("peer", "Federate with other hubs: enter them, look at them, take them out",
		p.peerAdd(), p.peerList(), p.peerShow(), p.peerSet(),
		p.peerActs("pause", "Stop all that goes to and from a peer; what was learned stays", "paused",
			func(j *job) func(context.Context, peers.Standing, audit.By) error { return j.Peers.Pause }),
		p.peerActs("resume", "Let a paused peer go on", "resumed",
			func(j *job) func(context.Context, peers.Standing, audit.By) error { return j.Peers.Resume }),
		p.peerRemove())
}

func (p *Program) peerAdd() *cobra.Command {
	var agreed consent
	o := peers.Offer{}
	delivery, discovery, ifMissing := onOff{on: true}, onOff{on: true}, false
	c := p.acting("add URL", "Enter a hub as a peer, once it has proven who it is", cmdline.Exactly("a URL"), func(ctx context.Context, j *job) error {
		o.Endpoint, o.Delivery, o.Discovery = j.args[0], delivery.on, discovery.on
		if s, err := j.Peers.Find(ctx, o.Endpoint); ifMissing && err == nil {
			v := p.viewPeer(s).done("there already")
			return p.show(v, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s\n", v.Status, v.Name); v.offer(w) })
		}
		return p.addPeer(ctx, j, o, agreed)
	}, (*app.Config).PeerFlags)
	agreed.flags(c)
	c.Flags().StringVar(&o.AID, "aid", "", "the AID its operator told you: another is refused, and nothing is asked")
	c.Flags().StringVar(&o.Name, "name", "", "what to call it, of a-z, 0-9 and - (after its host)")
	c.Flags().Var(&delivery, "delivery", "mail to and from it: on or off")
	c.Flags().Var(&discovery, "discovery", "learn of its agents: on or off")
	c.Flags().BoolVar(&ifMissing, "if-missing", false, "leave a peer of this address as it is, for what runs at every start")
	c.Long = `Add asks the hub at the URL who it is, checks that its key history proves the AID,
and shows that AID. Compare it with what the other operator says ("anet-hub identity
show" there): it is what this hub trusts from then on, whatever the URL leads to.
With --aid it is compared for you, and a hub that is away is entered all the same.

With --dry-run nothing is entered, and it is shown what would be learned of the peer,
what it would learn, and what it could send.

A hub that is not on the internet, and plain http, need --peer-allow-range, here and
at every process that serves.`
	return cmdline.Example(c, "anet-hub peer add https://hub.example.org --dry-run", "anet-hub peer add https://hub.example.org --aid AID",
		"anet-hub peer add http://10.0.0.7:8088 --peer-allow-range 10.0.0.0/24 --name lab --discovery off")
}

func (p *Program) addPeer(ctx context.Context, j *job, o peers.Offer, agreed consent) (err error) {
	if o.AID != "" {
		agreed.yes = true
		if o.AID, err = moderation.ParseAID(o.AID); err != nil {
			return err
		}
	}
	peer, err := j.Peers.Meet(ctx, j.AID(), o)
	if err != nil {
		return err
	}
	if agreed.dryRun {
		return p.showOutlook(ctx, j, peer)
	}
	v := p.viewPeer(peers.Standing{Peer: peer})
	question := fmt.Sprintf("Federate with %s? It is whoever has the key of %s.", peer.Endpoint, peer.AID)
	goOn, err := p.agreed(ctx, agreed, v, v.offer, question)
	if err != nil || !goOn {
		return err
	}
	if err := j.Peers.Add(ctx, peer, j.by); err != nil {
		return err
	}
	if !peer.Proven() {
		cmdline.Note(p.Err, "anet-hub: it does not answer now: nothing goes to or from it before it has proven its AID, which is tried every minute")
	}
	if len(j.cfg.PeerRanges) > 0 {
		cmdline.Note(p.Err, "anet-hub: a hub that serves calls it there only with the same --peer-allow-range")
	}
	cmdline.Note(p.Err, "anet-hub: nothing goes either way before its operator has entered this hub, %s, too", j.AID())
	return p.show(v.done("added"), func(w io.Writer) { v.offer(w) })
}

func (p *Program) peerList() *cobra.Command {
	c := p.looking("list", "List the peers, in the order in which they are asked", cmdline.None, func(ctx context.Context, j *job) error {
		list, err := j.Peers.List(ctx)
		if err != nil {
			return err
		}
		return p.showPeers(list)
	})
	return cmdline.Example(c, "anet-hub peer list", "anet-hub peer list --json")
}

// ofPeer makes a command of one peer, by whatever names it.
func (p *Program) ofPeer(act maker, name, short string, do func(ctx context.Context, j *job, s peers.Standing) error) *cobra.Command {
	c := act(name+" NAME|AID|URL", short, cmdline.Exactly("a peer's name, AID or URL"), func(ctx context.Context, j *job) error {
		s, err := j.Peers.Find(ctx, j.args[0])
		if err != nil {
			return err
		}
		return do(ctx, j, s)
	})
	return p.completing(cmdline.Example(c, "anet-hub peer "+name+" NAME"), peerNames)
}

func (p *Program) peerShow() *cobra.Command {
	c := p.ofPeer(p.looking, "show", "Show a peer, and how far its streams were read", func(ctx context.Context, j *job, s peers.Standing) error {
		streams, err := j.Peers.Progress(ctx, s.ID)
		if err != nil {
			return err
		}
		return p.showPeer(s, streams)
	})
	c.Long = `Show tells how a peer stands: when it last answered, what it last did wrong and when
it is asked again; and of each stream how far it was read, and the entry it waits at
because it cannot be taken for now.`
	return cmdline.Example(c, "anet-hub peer show NAME", "anet-hub peer show https://hub.example.org --json")
}

func (p *Program) peerSet() *cobra.Command {
	var delivery, discovery onOff
	name := ""
	c := p.ofPeer(p.acting, "set", "Change what goes to and from a peer, or its name", func(ctx context.Context, j *job, s peers.Standing) error {
		change := peers.Change{Delivery: delivery.change(), Discovery: discovery.change()}
		if name != "" {
			change.Name = &name
		}
		if change == (peers.Change{}) {
			return cmdline.WrongUse("nothing is to be changed: see --delivery, --discovery and --name")
		}
		if err := j.Peers.Set(ctx, s, change, j.by); err != nil {
			return err
		}
		return p.showChanged(ctx, j, s.AID, "changed")
	})
	c.Flags().Var(&delivery, "delivery", "mail to and from it: on or off (as it is)")
	c.Flags().Var(&discovery, "discovery", "learn of its agents: on or off (as it is)")
	c.Flags().StringVar(&name, "name", "", "what to call it (as it is)")
	return cmdline.Example(c, "anet-hub peer set NAME --discovery off", "anet-hub peer set NAME --name lab --reason 'its host moves'")
}

func (p *Program) peerActs(name, short, done string, act func(*job) func(context.Context, peers.Standing, audit.By) error) *cobra.Command {
	return p.ofPeer(p.acting, name, short, func(ctx context.Context, j *job, s peers.Standing) error {
		if err := act(j)(ctx, s, j.by); err != nil {
			return err
		}
		return p.showChanged(ctx, j, s.AID, done)
	})
}

// peerNames are the names a shell offers.
func peerNames(ctx context.Context, op *app.Operator) (names []string) {
	list, _ := op.Peers.List(ctx) // a hub that cannot be asked offers nothing
	for _, s := range list {
		names = append(names, cobra.CompletionWithDesc(s.Name, plain.Line(s.Endpoint)))
	}
	return names
}
