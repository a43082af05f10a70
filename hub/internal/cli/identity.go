package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/cmdline"
)

func (p *Program) identityCommands() *cobra.Command {
	show := p.looking("show", "Show the hub's AID and how often its key was rotated", cmdline.None,
		func(ctx context.Context, j *job) error { return p.identity(j.Identity(ctx)) })
	rotate := p.acting("rotate", "Replace the hub's signing key; the AID stays, running processes follow", cmdline.None,
		func(ctx context.Context, j *job) error { return p.identity(j.Rotate(ctx, j.by)) })
	return cmdline.Group("identity", "Show or rotate the hub's own identity",
		cmdline.Example(show, "anet-hub identity show --data-dir ~/hub --json"),
		cmdline.Example(rotate, "anet-hub identity rotate --data-dir ~/hub --reason 'the yearly one'"))
}

func (p *Program) identity(v app.IdentityView, err error) error {
	if err != nil {
		return err
	}
	return p.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "aid\t%s\nkey state\t%d\nkel\t%d bytes\n", v.AID, v.Seq, len(v.KEL))
	})
}
