package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
)

// delegation is one run of delegate.
type delegation struct {
	order node.Order
	args  arguments
	files []string
	wait  time.Duration
	pay   bool
	most  uint64
}

func (p *Program) delegateCommand() *cobra.Command {
	var d delegation
	c := command("delegate AID [TEXT] [flags]", "Send a task: a text, or the call of a capability", between(1, "an AID", "a text"),
		func(cmd *cobra.Command, args []string) error {
			d.order.Provider = args[0]
			if len(args) > 1 {
				d.order.Text = args[1]
			}
			if err := d.complete(cmd, p); err != nil {
				return err
			}
			return p.ask(func(api node.API) error { return p.delegate(cmd.Context(), api, d) })
		})
	c.Long = `Delegate hands a task to another agent and returns at once; the task is on disk
then and survives whatever follows. With --wait it stays until the task has ended,
and its exit code says how.

A call that has a price is answered with it and waits: pay it with anet pay. With
--pay it is paid as soon as the price is known, within --max and the limits of anet
payments show, unless it is above what the provider's signed card says.`
	exiting(c, ends...)
	f := c.Flags()
	f.StringVar(&d.order.Capability, "capability", "", "id of the capability to call")
	d.args.flags(f)
	f.StringArrayVar(&d.files, "file", nil, "attach a file (again for more)")
	f.StringVar(&d.order.ContextID, "context", "", "the conversation this task belongs to")
	f.DurationVar(&d.wait, "wait", 0, "wait this long for the end, such as 30s")
	f.BoolVar(&d.pay, "pay", false, "pay for the call if it has a price")
	cmdline.Credits(f, &d.most, "max", 0, "with --pay: the most credits it may cost (the limit of one payment when absent)")
	c.ValidArgsFunction = p.completePeers
	return example(c, `anet delegate AID "Translate this into English: …" --file letter.txt`,
		`anet delegate AID --capability text.digest --args '{"text":"hello"}' --wait 30s --json`,
		`anet delegate AID --capability text.translate --args '{"text":"hello"}' --pay --max 5 --wait 1m`)
}

// complete reads what the flags point to and refuses an order nobody could
// understand, before the node is asked.
func (d *delegation) complete(cmd *cobra.Command, p *Program) (err error) {
	flags := cmd.Flags()
	call := flags.Changed("capability")
	switch {
	case fullAID(d.order.Provider) != nil:
		return fullAID(d.order.Provider)
	case call && d.order.Capability == "":
		return wrongUse("--capability names no capability")
	case call && d.order.Text != "":
		return wrongUse("send a text or call a --capability, not both")
	case !call && d.args.given(flags):
		return wrongUse("arguments go with a --capability")
	case !call && d.order.Text == "":
		return wrongUse("say what to do: a text, or --capability ID")
	case d.pay && !call:
		return wrongUse("--pay goes with a --capability")
	case flags.Changed("max") && (!d.pay || d.most < 1):
		return wrongUse("--max is a number of credits from 1 on, with --pay")
	case flags.Changed("wait") && d.wait <= 0:
		return wrongUse("--wait takes a time such as 30s")
	}
	if d.pay {
		d.order.Pay = &node.Consent{Max: d.most}
	}
	if call {
		if d.order.Args, err = d.args.read(cmd, p); err != nil {
			return err
		}
	}
	d.order.Files, err = attach(cmd.Context(), d.files)
	return err
}

func (p *Program) delegate(ctx context.Context, api node.API, d delegation) error {
	t, err := api.StartTask(ctx, d.order)
	if err != nil {
		return err
	}
	if d.wait == 0 {
		return p.showTask(t)
	}
	return p.follow(ctx, api, t, d.wait)
}
