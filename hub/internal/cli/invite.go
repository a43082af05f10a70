package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) inviteCommands() *cobra.Command {
	return cmdline.Group("invite", "Make, show and revoke invites to a hub with --invite-required",
		p.inviteCreate(), p.inviteList(), p.inviteShow(), p.inviteCheck(), p.inviteRevoke())
}

func (p *Program) inviteCreate() *cobra.Command {
	o, ends, out := admission.Order{Uses: 1}, span{d: 7 * day, zero: "never"}, ""
	c := p.acting("create", "Make an invite; its token is shown once, on the last line", cmdline.None, func(ctx context.Context, j *job) error {
		o.For = ends.d
		return p.handOut(out, func() (admission.Invite, admission.Token, error) { return j.Invites.Make(ctx, o, j.by) })
	})
	c.Long = `Create makes an invite and prints its token, alone on the last line. The hub keeps
only a hash: a lost token is made anew, not found again. With --out the token goes
into a new file that only you can read, and is not printed.

Each agent uses an invite once, and needs none from then on: not after a restart,
nor when the invite has expired, is revoked or gone.`
	c.Flags().IntVar(&o.Uses, "uses", o.Uses, "how many agents may come in by it; 0: any number")
	c.Flags().Var(&ends, "expires", "how long it lets in: 7d, 12h, or never")
	c.Flags().StringVar(&o.Label, "label", "", "what it is for, as lists show it")
	c.Flags().StringVar(&out, "out", "", "new file for the token")
	return cmdline.Example(c, "anet-hub invite create --data-dir ~/hub --out ./invite",
		"anet-hub invite create --uses 20 --expires 30d --label 'the lab' | tail -n 1 > invite")
}

// handOut makes an invite and hands its token over. The file is made first: a
// token that has no place to go would be lost.
func (p *Program) handOut(path string, make func() (admission.Invite, admission.Token, error)) (err error) {
	to := io.Discard
	if path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return errs.New(errs.Invalid, "file_not_made", "the token needs a new file: %v", err).In("out")
		}
		defer f.Close()
		to = f
	}
	i, token, err := make()
	if err != nil {
		if path != "" {
			_ = os.Remove(path) // which holds nothing yet
		}
		return err
	}
	if _, err := fmt.Fprintln(to, token.Reveal()); err != nil {
		return fmt.Errorf("the invite %s was made, but its token is lost: revoke it: %w", i.ID, err)
	}
	return p.showNew(i, token, path)
}

func (p *Program) inviteList() *cobra.Command {
	c := p.looking("list", "List all invites, the newest first", cmdline.None, func(ctx context.Context, j *job) error {
		list, err := j.Invites.List(ctx)
		if err != nil {
			return err
		}
		return p.showInvites(list)
	})
	return cmdline.Example(c, "anet-hub invite list --data-dir ~/hub", "anet-hub invite list --json")
}

func (p *Program) inviteShow() *cobra.Command {
	c := p.looking("show ID", "Show an invite and who came in by it", cmdline.Exactly("an invite's id"), func(ctx context.Context, j *job) error {
		i, came, err := j.Invites.Show(ctx, j.args[0])
		if err != nil {
			return err
		}
		return p.showInvite(i, came)
	})
	return p.completing(cmdline.Example(c, "anet-hub invite show ID", "anet-hub invite show ID --json"), inviteIDs)
}

func (p *Program) inviteCheck() *cobra.Command {
	var file string
	c := p.looking("check", "Tell what a token is good for, without using it up", cmdline.None, func(ctx context.Context, j *job) error {
		token, err := cmdline.UnlessStopped(ctx, func() (admission.Token, error) { return p.readToken(file) })
		if err != nil {
			return err
		}
		i, refused := j.Invites.Check(ctx, token)
		if refused != nil && errs.KindOf(refused) != errs.Forbidden {
			return refused
		}
		return p.showCheck(i, refused)
	})
	c.Long = `Check tells who holds a token what an agent that registers with it would be told.
The token is read from a file, from stdin (--token-file -) or from ` + inviteVariable + `,
never from the command line, which every user of the machine can read.`
	c.Flags().StringVar(&file, "token-file", "", "file with the token, - for stdin (or set "+inviteVariable+")")
	cmdline.Exiting(c, cmdline.Means(exitNo, "it lets nobody in"))
	return cmdline.Example(c, "anet-hub invite check --token-file ./invite", "anet-hub invite check --token-file - < ./invite")
}

const (
	inviteVariable = "ANET_INVITE"
	maxTokenFile   = 4 << 10 // a larger file is surely another one
)

func (p *Program) readToken(file string) (admission.Token, error) {
	text := []byte(p.Getenv(inviteVariable))
	if file != "" {
		in := p.In
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return admission.Token{}, fmt.Errorf("read the token: %w", err)
			}
			defer f.Close()
			in = f
		}
		var err error
		if text, err = io.ReadAll(io.LimitReader(in, maxTokenFile)); err != nil {
			return admission.Token{}, fmt.Errorf("read the token: %w", err)
		}
	}
	token := admission.ReadToken(string(text))
	if token.IsZero() {
		return token, cmdline.WrongUse("there is no token to check: name its file with --token-file, or set %s", inviteVariable)
	}
	return token, nil
}

func (p *Program) inviteRevoke() *cobra.Command {
	var agreed consent
	var block bool
	c := p.acting("revoke ID", "End an invite; who came in by it stays", cmdline.Exactly("an invite's id"), func(ctx context.Context, j *job) error {
		i, came, err := j.Invites.Show(ctx, j.args[0])
		if err != nil {
			return err
		}
		if !i.RevokedAt.IsZero() {
			return admission.AlreadyRevoked(i.RevokedAt)
		}
		plan := planOf(i, came, block)
		goOn, err := p.agreed(ctx, agreed, plan, plan.text, plan.question())
		if err != nil || !goOn {
			return err
		}
		blocked, err := j.Invites.Revoke(ctx, i.ID, block, j.by)
		if err != nil {
			return err
		}
		return p.showRevoked(i.ID, blocked)
	})
	agreed.flags(c)
	c.Flags().BoolVar(&block, "block-members", false, "block who came in by it, too, without an end (see anet-hub block)")
	c.Long = `Revoke closes the door that an invite opened, and shows who came in by it before it
asks. They stay, unless --block-members says otherwise.`
	return p.completing(cmdline.Example(c, "anet-hub invite revoke ID --reason 'it leaked'",
		"anet-hub invite revoke ID --block-members --dry-run"), inviteIDs)
}

// inviteIDs are the ids a shell offers.
func inviteIDs(ctx context.Context, op *app.Operator) (ids []string) {
	list, _ := op.Invites.List(ctx) // a hub that cannot be asked offers nothing
	for _, i := range list {
		ids = append(ids, cobra.CompletionWithDesc(i.ID, plain.Line(i.Label)))
	}
	return ids
}
