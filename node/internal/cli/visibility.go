package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
)

// visibilityWords are the choices, as they are typed.
const visibilityWords = "hub-local, federated or public"

func (p *Program) visibilityCommand() *cobra.Command {
	var yes bool
	c := command("visibility [hub-local|federated|public]", "Show or set who beyond the hub may learn of this node", between(0, visibilityWords),
		func(cmd *cobra.Command, args []string) error {
			present, err := p.visibility(cmd.Context())
			if err != nil || len(args) == 0 {
				return p.showVisibility(present, err)
			}
			wanted := config.Visibility(args[0])
			if err := p.seenBy(cmd.Context(), wanted, present, yes); err != nil {
				return err
			}
			err = p.manage(cmd.Context(), func(api node.API) error { return api.SetVisibility(cmd.Context(), args[0]) })
			return p.showVisibility(wanted, err)
		})
	c.Long = `Visibility says who beyond the hub may learn of this node.

  hub-local  nobody: the hub lists it, and tells no other
  federated  the hubs that its hub federates with list it too, and their agents
             may call what is public here
  public     anybody may pass it on

Other hubs learn of a node by its card, which a node has once it offers something
to strangers. The hub is told at once, and again after every registration. Narrowed,
the node leaves other hubs' lists the next time they ask, within minutes; who knows
its AID may still call it.`
	yesFlag(c, &yes)
	for _, v := range config.Visibilities() {
		c.ValidArgs = append(c.ValidArgs, string(v))
	}
	return example(c, "anet visibility", "anet visibility federated")
}

// seenBy asks before more than now may learn of the node.
func (p *Program) seenBy(ctx context.Context, wanted, present config.Visibility, yes bool) error {
	switch {
	case !wanted.Known():
		return wrongUse("the visibility is %s", visibilityWords)
	case !wanted.Widens(present):
		return nil
	case wanted == config.Public:
		return p.confirm(ctx, yes, "Everybody may then learn of this node and pass that on.")
	}
	return p.confirm(ctx, yes, "The hubs that this node's hub federates with may then list it, and their agents call what is public here.")
}

func (p *Program) visibility(ctx context.Context) (v config.Visibility, err error) {
	err = p.either(ctx,
		func(c *control.Client) error {
			said, err := c.Visibility(ctx)
			v = config.Visibility(said)
			return err
		},
		func(dir datadir.Dir) error {
			conf, err := config.Load(dir)
			if err == nil {
				v = conf.Visibility
			}
			return err
		})
	return v, err
}

func (p *Program) showVisibility(v config.Visibility, err error) error {
	if err != nil {
		return err
	}
	return p.show(struct {
		Visibility config.Visibility `json:"visibility"`
	}{v}, func(w io.Writer) { fmt.Fprintln(w, v) })
}
