package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
)

// job is one run of an operator command: the hub to work on, what was named on
// the command line, and who works.
type job struct {
	*app.Operator // nil where the command has no opener
	args          []string
	by            audit.By
	cfg           app.Config
	log           *slog.Logger
}

// opener finds the hub. app.NewOperator wants one that this program knows.
type opener = func(context.Context, app.Config, *slog.Logger) (*app.Operator, error)

// work is what an operator command does.
type work func(ctx context.Context, j *job) error

// addFlags adds flags of the configuration beyond those that find the database.
type addFlags = func(*app.Config, *pflag.FlagSet)

// maker is looking or acting.
type maker = func(use, short string, args cobra.PositionalArgs, do work, more ...addFlags) *cobra.Command

// looking makes an operator command that changes nothing.
func (p *Program) looking(use, short string, args cobra.PositionalArgs, do work, more ...addFlags) *cobra.Command {
	c, _ := p.operating(app.NewOperator, use, short, args, do, more...)
	return c
}

// acting makes one that changes something. Its store writes down the act, by
// job.by and for --reason, in the transaction of the change.
func (p *Program) acting(use, short string, args cobra.PositionalArgs, do work, more ...addFlags) *cobra.Command {
	return p.actingOn(app.NewOperator, use, short, args, do, more...)
}

func (p *Program) actingOn(open opener, use, short string, args cobra.PositionalArgs, do work, more ...addFlags) *cobra.Command {
	c, by := p.operating(open, use, short, args, do, more...)
	c.Flags().StringVar(&by.Why, "reason", "", "why, for the audit log; never a secret")
	return c
}

// operating makes a command with the flags that find the database. Only these
// are variables, too: a --yes that somebody exported would agree to everything.
func (p *Program) operating(open opener, use, short string, args cobra.PositionalArgs, do work, more ...addFlags) (*cobra.Command, *audit.By) {
	cfg, where, by := operatorDefaults(), pflag.NewFlagSet(use, pflag.ContinueOnError), audit.By{}
	cfg.DatabaseFlags(where)
	for _, add := range more {
		add(&cfg, where)
	}
	c := cmdline.Command(use+" [flags]", short, args, func(cmd *cobra.Command, args []string) error {
		if err := cfg.Complete(where, p.Getenv); err != nil {
			return cmdline.WrongUse("%w", err)
		}
		by.Who, by.How = whoami(p.Getenv)
		return p.operate(cmd.Context(), open, &job{args: args, by: by, cfg: cfg}, do)
	})
	c.Flags().AddFlagSet(where)
	c.ValidArgsFunction = cobra.NoFileCompletions
	return p.printing(c), &by
}

// operatorDefaults are serve's, with the log of somebody who reads it.
func operatorDefaults() app.Config {
	cfg := app.Defaults()
	cfg.LogLevel, cfg.LogFormat = "warn", "text"
	return cfg
}

func (p *Program) operate(ctx context.Context, open opener, j *job, do work) (err error) {
	if err := checkReason(j.by); err != nil {
		return err
	}
	if j.log, err = j.cfg.Logger(p.Err); err != nil {
		return cmdline.WrongUse("%w", err)
	}
	if open == nil {
		return do(ctx, j)
	}
	if j.Operator, err = open(ctx, j.cfg, j.log); err != nil {
		return err
	}
	return errors.Join(do(ctx, j), j.Close(ctx))
}

// checkReason holds a reason to what a log may keep.
func checkReason(by audit.By) error {
	if admission.MentionsToken(by.Why) {
		return errs.New(errs.Invalid, "reason_invalid", "a reason is kept and shown: an invite's token must not stand in it").In("reason")
	}
	return by.Check()
}

// consent is for what cannot simply be taken back.
type consent struct{ yes, dryRun bool }

func (c *consent) flags(cmd *cobra.Command) {
	cmdline.YesFlag(cmd, &c.yes)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would be done, and do nothing")
}

// agreed shows what is going to happen and reports whether to go on. With
// --dry-run that preview is the result.
func (p *Program) agreed(ctx context.Context, c consent, preview any, text func(io.Writer), question string) (bool, error) {
	if c.dryRun {
		return false, p.show(preview, text)
	}
	if !c.yes {
		if err := table(p.Err, text); err != nil {
			return false, err
		}
	}
	err := cmdline.Confirm(ctx, p.In, p.Err, c.yes, question)
	return err == nil, err
}

// completing offers words of a hub that runs for the first argument.
func (p *Program) completing(c *cobra.Command, words func(context.Context, *app.Operator) []string) *cobra.Command {
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.glance(cmd, words), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// glance asks a hub that runs, and offers nothing when there is none.
func (p *Program) glance(cmd *cobra.Command, words func(context.Context, *app.Operator) []string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cfg, where := operatorDefaults(), pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.DatabaseFlags(where)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if where.Lookup(f.Name) != nil {
			_ = where.Set(f.Name, f.Value.String()) // it was of this kind before
		}
	})
	if cfg.Complete(where, p.Getenv) != nil {
		return nil
	}
	op, err := app.Glance(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer op.Close(ctx)
	return words(ctx, op)
}
