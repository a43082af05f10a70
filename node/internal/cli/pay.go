package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

func (p *Program) payCommand() *cobra.Command {
	var yes bool
	var wait time.Duration
	c := command("pay TASK [--yes] [--wait DUR]", "Pay what a call costs", exactly("a task id"),
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("wait") && wait <= 0 {
				return wrongUse("--wait takes a time such as 30s")
			}
			return p.ask(func(api node.API) error { return p.pay(cmd.Context(), api, args[0], yes, wait) })
		})
	c.Long = `Pay shows what the provider asks for a task, and after a yes signs for it and sends
the payment. The provider has the hub move the credits before it does the work.

A payment is within the limits of anet payments show, and bound to its task: of all
that is ever signed for one task, one moves. While it is not known what became of a
payment no other is made. A quote that is not wanted is declined with anet cancel.`
	yesFlag(c, &yes)
	c.Flags().DurationVar(&wait, "wait", 0, "wait this long for the end; the exit code then says how it ended")
	c.ValidArgsFunction = p.completeTasks(node.Query{Role: node.Requester, State: "input-required"})
	exiting(c, ends...)
	return example(c, "anet pay TASK", "anet pay TASK --yes --wait 1m --json")
}

// pay binds the yes to the amount that was shown: a quote that came or changed
// meanwhile is not paid by it. Where nothing could be shown it is nobody's word.
func (p *Program) pay(ctx context.Context, api node.API, id string, yes bool, wait time.Duration) error {
	t, err := api.Task(ctx, id)
	if err != nil {
		return err
	}
	c := node.Consent{Tier: string(wallet.Auto)}
	if t.Payment != nil && t.Payment.Amount != "" && (t.Payment.Status == node.PayRequired || t.Payment.Status == node.PayFailed) && !t.Ended {
		c.Tier = string(wallet.Explicit)
		if c.Max, err = payment.ParseAmount(t.Payment.Amount); err != nil {
			return errs.New(errs.Conflict, "invalid_amount", "the quote asks for %s, which is no amount of credits", quoted(t.Payment.Amount))
		}
		question := fmt.Sprintf("Pay %s to %s for a call of %s?", credits(c.Max), line(t.Payment.Payee), line(t.Capability))
		if err := p.confirm(ctx, yes, question); err != nil {
			return err
		}
	}
	if t, err = api.Pay(ctx, id, c); err != nil {
		return err
	}
	if wait == 0 {
		return p.showTask(t)
	}
	return p.follow(ctx, api, t, wait)
}

func credits(n uint64) string {
	if n == 1 {
		return "1 credit"
	}
	return fmt.Sprintf("%d credits", n)
}

// printPayment says what a call costs and what became of paying it.
func printPayment(w io.Writer, t node.Task) {
	if t.Payment == nil {
		return
	}
	pay := *t.Payment
	s := line(pay.Amount) + " credits, "
	if pay.Amount == "" {
		s = "not in credits, "
	}
	switch pay.Status {
	case node.PayRequired:
		s += "to be paid"
		if t.Role == node.Requester && pay.Amount != "" {
			s += ": anet pay " + line(t.ID)
		}
		if pay.Expires != nil {
			s += ", until " + clock(*pay.Expires)
		}
	case node.PaySubmitted:
		s += "payment under way"
	case node.PayPaid:
		s += "paid; the hub's receipt is verified"
	default:
		s += "not paid"
	}
	fmt.Fprintf(w, "price\t%s\n", s)
	if pay.Reason != "" && pay.Reason != t.Reason {
		fmt.Fprintf(w, "payment\t%s\n", line(pay.Reason))
	}
	if pay.Transaction != "" {
		fmt.Fprintf(w, "transaction\t%s\n", line(pay.Transaction))
	}
	if pay.Unverified != nil {
		fmt.Fprintln(w, "careful\tthe provider shows receipts of payment that do not hold")
	}
}
