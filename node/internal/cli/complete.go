package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/peers"
)

// completePeers offers the AIDs on the lists for the first argument.
func (p *Program) completePeers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := p.folder()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var aids []string
	for _, list := range peers.Order {
		members, _ := peers.In(dir).Members(list) // a list that cannot be read offers nothing
		aids = append(aids, members...)
	}
	return aids, cobra.ShellCompDirectiveNoFileComp
}

// completeTasks offers the latest tasks of a running node.
func (p *Program) completeTasks(q node.Query) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, err := p.folder()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		c := control.Dial(dir)
		defer c.Close()
		page, _ := c.List(ctx, q) // a node that does not run offers nothing
		var ids []string
		for _, t := range page.Tasks {
			if t.ID != line(t.ID) {
				continue // a shell would type what its requester chose
			}
			ids = append(ids, cobra.CompletionWithDesc(t.ID, t.State+" "+short(what(t), 40)))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
