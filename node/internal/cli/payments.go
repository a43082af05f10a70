package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
)

func (p *Program) paymentsCommand() *cobra.Command {
	return group("payments", "What this node may pay", p.paymentsShowCommand(), p.paymentsSetCommand())
}

func (p *Program) paymentsShowCommand() *cobra.Command {
	c := command("show", "Show the limits, and what was spent of them today", none, func(cmd *cobra.Command, _ []string) error {
		return p.manage(cmd.Context(), func(api node.API) error {
			l, err := api.Limits(cmd.Context())
			return p.showLimits(l, err)
		})
	})
	return example(c, "anet payments show", "anet payments show --json")
}

// limitFlags are the limits that can be set, in the order they are shown in.
type limitFlags struct {
	auto, agent, agentDaily, explicit, daily uint64
	payeeList                                string
}

func (p *Program) paymentsSetCommand() *cobra.Command {
	var l limitFlags
	var yes bool
	c := command("set [flags]", "Change the limits", none, func(cmd *cobra.Command, _ []string) error {
		change, err := l.change(cmd)
		if err != nil {
			return err
		}
		return p.manage(cmd.Context(), func(api node.API) error { return p.setLimits(cmd.Context(), api, change, yes) })
	})
	c.Long = `Set changes what this node may pay, in whole credits. To widen a limit is asked
for at a terminal.

  auto      paid without anybody's word, one call at a time
  agent     paid on the word of a program that uses this node: one call, one day
  explicit  paid by a person: anet pay, delegate --pay, authorize, voucher buy
  daily     all of it together, in a day of UTC

What no person pays goes to agents on the list of payees only (anet payees), unless
--payee-list is off.`
	f := c.Flags()
	cmdline.Credits(f, &l.auto, "auto-max", 0, "most for one call that nobody agreed to")
	cmdline.Credits(f, &l.agent, "agent-max", 0, "most for one call of a program")
	cmdline.Credits(f, &l.agentDaily, "agent-daily-max", 0, "most for all calls of programs in a day")
	cmdline.Credits(f, &l.explicit, "explicit-max", 0, "most for one call that a person pays")
	cmdline.Credits(f, &l.daily, "daily-max", 0, "most for everything in a day")
	f.StringVar(&l.payeeList, "payee-list", "", "on: what no person pays goes to payees on the list only; off: to anybody")
	yesFlag(c, &yes)
	_ = c.RegisterFlagCompletionFunc("payee-list", cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp))
	return example(c, "anet payments set --explicit-max 25", "anet payments set --auto-max 2 --daily-max 20")
}

func (l limitFlags) change(cmd *cobra.Command) (c node.LimitChange, err error) {
	given := cmd.Flags().Changed
	any := false
	for _, one := range []struct {
		flag string
		from *uint64
		to   **uint64
	}{
		{"auto-max", &l.auto, &c.AutoMax}, {"agent-max", &l.agent, &c.AgentMax}, {"agent-daily-max", &l.agentDaily, &c.AgentDailyMax},
		{"explicit-max", &l.explicit, &c.ExplicitMax}, {"daily-max", &l.daily, &c.DailyMax},
	} {
		if given(one.flag) {
			*one.to, any = one.from, true
		}
	}
	switch on := l.payeeList == "on"; {
	case !given("payee-list") && !any:
		return c, wrongUse("say what to set, such as --explicit-max 25")
	case !given("payee-list"):
	case !on && l.payeeList != "off":
		return c, wrongUse("--payee-list is on or off")
	default:
		c.PayeeList = &on
	}
	return c, nil
}

// setLimits asks before more may be paid than now.
func (p *Program) setLimits(ctx context.Context, api node.API, c node.LimitChange, yes bool) error {
	now, err := api.Limits(ctx)
	if err != nil {
		return err
	}
	if widens(now, c) {
		if err := p.confirm(ctx, yes, "This node may then pay more than it may now."); err != nil {
			return err
		}
	}
	next, err := api.SetLimits(ctx, c)
	next.SpentToday, next.AgentSpentToday = now.SpentToday, now.AgentSpentToday
	return p.showLimits(next, err)
}

func widens(now node.Limits, c node.LimitChange) bool {
	more := func(old uint64, next *uint64) bool { return next != nil && *next > old }
	return more(now.AutoMax, c.AutoMax) || more(now.AgentMax, c.AgentMax) || more(now.AgentDailyMax, c.AgentDailyMax) ||
		more(now.ExplicitMax, c.ExplicitMax) || more(now.DailyMax, c.DailyMax) || now.PayeeList && c.PayeeList != nil && !*c.PayeeList
}

func (p *Program) showLimits(l node.Limits, err error) error {
	if err != nil {
		return err
	}
	return p.show(l, func(w io.Writer) {
		fmt.Fprintf(w, "auto-max\t%d\ta call that nobody agreed to\n", l.AutoMax)
		fmt.Fprintf(w, "agent-max\t%d\ta call of a program\n", l.AgentMax)
		fmt.Fprintf(w, "agent-daily-max\t%d\tcalls of programs in a day; today: %d\n", l.AgentDailyMax, l.AgentSpentToday)
		fmt.Fprintf(w, "explicit-max\t%d\ta call that a person pays\n", l.ExplicitMax)
		fmt.Fprintf(w, "daily-max\t%d\teverything in a day; today: %d\n", l.DailyMax, l.SpentToday)
		fmt.Fprintf(w, "payee-list\t%s\t%d on it; for what no person pays\n", map[bool]string{true: "on", false: "off"}[l.PayeeList], len(l.Payees))
	})
}

func (p *Program) payeesCommand() *cobra.Command {
	return group("payees", "Whom this node may pay without a person", p.payeesListCommand(), p.payeeCommand(true), p.payeeCommand(false))
}

func (p *Program) payeesListCommand() *cobra.Command {
	c := command("list", "Show the list", none, func(cmd *cobra.Command, _ []string) error {
		return p.manage(cmd.Context(), func(api node.API) error {
			l, err := api.Limits(cmd.Context())
			return p.showPayees(l, err)
		})
	})
	return example(c, "anet payees list", "anet payees list --json")
}

func (p *Program) payeeCommand(add bool) *cobra.Command {
	use, short := "add AID", "Let this node pay an agent within auto-max and agent-max"
	if !add {
		use, short = "remove AID", "Take an agent off the list"
	}
	var yes bool
	c := command(use, short, exactly("an AID"), func(cmd *cobra.Command, args []string) error {
		if err := fullAID(args[0]); err != nil {
			return err
		}
		if add {
			if err := p.confirm(cmd.Context(), yes, "This node may then pay "+args[0]+" without asking, within its limits."); err != nil {
				return err
			}
		}
		return p.manage(cmd.Context(), func(api node.API) error {
			l, err := api.SetPayee(cmd.Context(), args[0], add)
			return p.showPayees(l, err)
		})
	})
	if add {
		yesFlag(c, &yes)
		c.ValidArgsFunction = p.completePeers
		return example(c, "anet payees add bafyrei…")
	}
	c.ValidArgsFunction = p.completePayees
	return example(c, "anet payees remove bafyrei…")
}

// completePayees offers who is on the list.
func (p *Program) completePayees(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := p.folder()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	conf, err := config.Load(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return conf.Payments.Payees, cobra.ShellCompDirectiveNoFileComp
}

func (p *Program) showPayees(l node.Limits, err error) error {
	if err != nil {
		return err
	}
	return p.show(struct {
		Payees    []string `json:"payees"`
		PayeeList bool     `json:"payee_list"`
	}{l.Payees, l.PayeeList}, func(w io.Writer) {
		for _, aid := range l.Payees {
			fmt.Fprintln(w, aid)
		}
		if len(l.Payees) == 0 {
			fmt.Fprintln(w, "nobody is on the list")
		}
		if !l.PayeeList {
			fmt.Fprintln(w, "the list does not count: payee-list is off")
		}
	})
}
