package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
)

func (p *Program) inboundCommand() *cobra.Command {
	return group("inbound", "What becomes of tasks from agents on no list", p.policyCommand())
}

func (p *Program) policyCommand() *cobra.Command {
	var yes bool
	c := command("policy [closed|open]", "Show or set the policy for agents on no list", between(0, "closed or open"),
		func(cmd *cobra.Command, args []string) error {
			present, err := p.policy(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 || args[0] == present {
				return p.showPolicy(present)
			}
			if err := p.widen(cmd.Context(), args[0], yes); err != nil {
				return err
			}
			if err := p.setPolicy(cmd.Context(), args[0]); err != nil {
				return err
			}
			return p.showPolicy(args[0])
		})
	c.Long = `Policy says what becomes of a task from an agent on no list, beside calls of
public capabilities, which inbound.public_capabilities opens.

  closed  it is refused
  open    text is taken from everybody; capabilities that are not public stay closed

What is kept of the texts of such agents is bounded by inbound.strangers, of one
agent and of all of them: what does not fit is refused. anet status shows how much
is kept; a week after their end their tasks are deleted.`
	yesFlag(c, &yes)
	c.ValidArgs = []string{string(config.Closed), string(config.Open)}
	return example(c, "anet inbound policy", "anet inbound policy open")
}

// widen asks before the node is opened to everybody.
func (p *Program) widen(ctx context.Context, policy string, yes bool) error {
	switch config.Policy(policy) {
	case config.Closed:
		return nil
	case config.Open:
		return p.confirm(ctx, yes, "Everybody may then send text tasks to this node.")
	case "approve":
		return wrongUse("there is no approval queue in this build; the policy is closed or open")
	}
	return wrongUse("the policy is closed or open")
}

func (p *Program) policy(ctx context.Context) (policy string, err error) {
	err = p.either(ctx,
		func(c *control.Client) error { policy, err = c.Policy(ctx); return err },
		func(dir datadir.Dir) error {
			conf, err := config.Load(dir)
			if err == nil {
				policy = string(conf.Inbound.Policy)
			}
			return err
		})
	return policy, err
}

func (p *Program) setPolicy(ctx context.Context, policy string) error {
	return p.either(ctx,
		func(c *control.Client) error { return c.SetPolicy(ctx, policy) },
		func(dir datadir.Dir) error { return config.Update(dir, config.SetPolicy(config.Policy(policy))) })
}

func (p *Program) showPolicy(policy string) error {
	return p.show(struct {
		Policy string `json:"policy"`
	}{policy}, func(w io.Writer) { fmt.Fprintln(w, policy) })
}
