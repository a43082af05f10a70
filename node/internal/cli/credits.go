package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/payment"
)

func (p *Program) balanceCommand() *cobra.Command {
	c := command("balance", "Show the credits of this node at its hub", none, func(cmd *cobra.Command, _ []string) error {
		return p.manage(cmd.Context(), func(api node.API) error {
			b, err := api.Balance(cmd.Context())
			if err != nil {
				return err
			}
			return p.show(b, func(w io.Writer) { fmt.Fprintf(w, "%d\n", b.Credits) })
		})
	})
	c.Long = "Balance asks the hub. Credits are entries in its books, and worth what its operator gives for them."
	return example(c, "anet balance", "anet balance --json")
}

func (p *Program) ledgerCommand() *cobra.Command {
	var limit int
	c := command("ledger [--limit N]", "Show what moved the credits of this node", none, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("limit") && limit < 1 {
			return wrongUse("--limit is a number from 1 on")
		}
		return p.manage(cmd.Context(), func(api node.API) error {
			a, err := api.Account(cmd.Context(), limit)
			if err != nil {
				return err
			}
			return p.show(a, func(w io.Writer) { printAccount(w, a) })
		})
	})
	c.Flags().IntVar(&limit, "limit", 0, "the newest so many (the hub's own number when absent)")
	return example(c, "anet ledger", "anet ledger --limit 5 --json")
}

func printAccount(w io.Writer, a node.Account) {
	fmt.Fprintln(w, "WHEN\tCREDITS\tWHAT\tTRANSACTION")
	for _, e := range a.Entries {
		fmt.Fprintf(w, "%s\t%+d\t%s\t%s\n", clock(e.At), e.Delta, line(e.Reason), line(e.Transaction))
	}
	fmt.Fprintf(w, "balance\t%d\n", a.Credits)
	if a.Truncated {
		fmt.Fprintf(w, "the newest %d of %d: --limit N for more\n", len(a.Entries), a.Total)
	}
}

func (p *Program) redeemCommand() *cobra.Command {
	var yes bool
	var reference string
	c := command("redeem AMOUNT [--reference TEXT]", "Give credits back to the hub", exactly("an amount"),
		func(cmd *cobra.Command, args []string) error {
			amount, err := payment.ParseAmount(args[0])
			if err != nil {
				return wrongUse("%s is no whole number of credits", quoted(args[0]))
			}
			return p.manage(cmd.Context(), func(api node.API) error {
				return p.redeem(cmd.Context(), api, node.Redemption{Amount: amount, Reference: reference}, yes)
			})
		})
	c.Long = `Redeem signs credits of this node away to its hub, which takes them out of
circulation and signs a receipt. What it owes for them is between its operator and
you: the reference says what they are for, and stands for one redemption only.

Amount, time and AID become public; the reference does not. It cannot be taken back.`
	c.Flags().StringVar(&reference, "reference", "", "what it is for: one line, once")
	yesFlag(c, &yes)
	exiting(c, means(exitUnverified, "the hub may have taken them: run the same command again"))
	return example(c, "anet redeem 20 --reference 'invoice 7'", "anet redeem 20 --reference 'invoice 7' --yes --json")
}

func (p *Program) redeem(ctx context.Context, api node.API, r node.Redemption, yes bool) error {
	if err := p.confirm(ctx, yes, fmt.Sprintf("This takes %s of this node out of circulation, for ever.", credits(r.Amount))); err != nil {
		return err
	}
	done, err := api.Redeem(ctx, r)
	if err != nil {
		return err
	}
	return p.show(done, func(w io.Writer) {
		fmt.Fprintf(w, "redeemed\t%s; the hub's receipt is verified\ntransaction\t%s\n", credits(done.Amount), line(done.Transaction))
	})
}
