package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

func (p *Program) peersCommand() *cobra.Command {
	allow := p.putCommand(node.Allow, "Let an agent send tasks to this node",
		"%s may then send tasks to this node, and call what is served without being public.")
	trust := p.putCommand(node.Trust, "As allow, for an agent that local agents may work for; this build runs none",
		"%s may then do all that an allowed agent may, and once this node runs local agents, they work for it with your rights.")
	deny := p.putCommand(node.Deny, "Refuse everything an agent sends, and cancel its open tasks", "")
	return group("peers", "The lists of who may call", p.peersListCommand(), allow, trust, deny, p.peersRemoveCommand())
}

func (p *Program) peersListCommand() *cobra.Command {
	c := command("list", "Show the lists", none, func(cmd *cobra.Command, _ []string) error {
		return p.lists(cmd.Context(), func(l lister) error {
			lists, err := l.Peers(cmd.Context())
			if err != nil {
				return err
			}
			return p.show(lists, func(w io.Writer) { printPeers(w, lists) })
		})
	})
	return example(c, "anet peers list", "anet peers list --json")
}

func printPeers(w io.Writer, l node.Peers) {
	for _, list := range []struct {
		name string
		aids []string
	}{{"trust", l.Trust}, {"allow", l.Allow}, {"deny", l.Deny}} {
		for _, aid := range list.aids {
			fmt.Fprintf(w, "%s\t%s\n", list.name, aid)
		}
	}
	if len(l.Trust)+len(l.Allow)+len(l.Deny) == 0 {
		fmt.Fprintln(w, "nobody is on a list")
	}
}

// putCommand puts an agent on a list; with a question when that opens something.
func (p *Program) putCommand(list node.List, short, question string) *cobra.Command {
	var yes bool
	c := command(string(list)+" AID", short, exactly("an AID"), func(cmd *cobra.Command, args []string) error {
		if err := fullAID(args[0]); err != nil {
			return err
		}
		if question != "" {
			if err := p.confirm(cmd.Context(), yes, fmt.Sprintf(question, args[0])); err != nil {
				return err
			}
		}
		return p.lists(cmd.Context(), func(l lister) error {
			if err := l.SetPeer(cmd.Context(), args[0], list); err != nil {
				return err
			}
			return p.showPeer(args[0], string(list))
		})
	})
	if question != "" {
		yesFlag(c, &yes)
	}
	c.ValidArgsFunction = p.completePeers
	return example(c, "anet peers "+string(list)+" bafyrei…")
}

func (p *Program) peersRemoveCommand() *cobra.Command {
	c := command("remove AID", "Take an agent off every list", exactly("an AID"), func(cmd *cobra.Command, args []string) error {
		if err := fullAID(args[0]); err != nil {
			return err
		}
		return p.lists(cmd.Context(), func(l lister) error {
			if err := l.RemovePeer(cmd.Context(), args[0]); err != nil {
				return err
			}
			return p.showPeer(args[0], "")
		})
	})
	c.ValidArgsFunction = p.completePeers
	return example(c, "anet peers remove bafyrei…")
}

// fullAID refuses names and prefixes: a name is chosen by its owner, and a
// prefix can be made to fit.
func fullAID(aid string) error {
	if identity.ValidAID(aid) {
		return nil
	}
	return errs.New(errs.Invalid, "aid_not_full", "%s is no full AID; anet find shows them", quoted(aid)).In("aid")
}

func (p *Program) showPeer(aid, list string) error {
	return p.show(struct {
		AID  string `json:"aid"`
		List string `json:"list"` // empty: on none
	}{aid, list}, func(w io.Writer) {
		if list == "" {
			fmt.Fprintf(w, "%s is on no list now\n", aid)
		} else {
			fmt.Fprintf(w, "%s: %s\n", list, aid)
		}
	})
}

// lister is where the lists are changed: a running node, which also acts on the
// tasks of a denied agent, or the files.
type lister interface {
	Peers(ctx context.Context) (node.Peers, error)
	SetPeer(ctx context.Context, aid string, list node.List) error
	RemovePeer(ctx context.Context, aid string) error
}

func (p *Program) lists(ctx context.Context, do func(lister) error) error {
	return p.either(ctx,
		func(c *control.Client) error { return do(c) },
		func(dir datadir.Dir) error { return do(files{peers.In(dir)}) })
}

// files are the lists of a node that does not run.
type files struct{ peers.Lists }

func (f files) Peers(context.Context) (all node.Peers, err error) {
	for list, into := range map[peers.List]*[]string{peers.Allow: &all.Allow, peers.Trust: &all.Trust, peers.Deny: &all.Deny} {
		members, err := f.Members(list)
		if err != nil {
			return node.Peers{}, err
		}
		*into = append([]string{}, members...)
	}
	return all, nil
}

func (f files) SetPeer(_ context.Context, aid string, list node.List) error {
	return f.Put(aid, peers.List(list))
}

func (f files) RemovePeer(_ context.Context, aid string) error {
	held, err := f.Remove(aid)
	if err == nil && len(held) == 0 {
		err = errs.New(errs.NotFound, "peer_unknown", "%s is on no list", aid)
	}
	return err
}
