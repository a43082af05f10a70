package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

func (p *Program) whyCommand() *cobra.Command {
	capID := ""
	c := p.looking("why AID", "Tell why lists show an agent, or what keeps it out of them", cmdline.Exactly("an AID"), func(ctx context.Context, j *job) error {
		aid, err := moderation.ParseAID(j.args[0])
		if err != nil {
			return err
		}
		v, err := j.Why(ctx, aid, capID)
		if err != nil {
			return err
		}
		return p.showWhy(v)
	})
	c.Long = `Why walks everything that decides whether lists show an agent, and names the first
that it does not pass with what to do about it. The agent itself can ask the hub the
same: anet status and anet doctor do.`
	c.Flags().StringVar(&capID, "cap", "", "a capability id that it should be found by")
	cmdline.Exiting(c, cmdline.Means(exitNo, "lists do not show it"))
	return p.completing(cmdline.Example(c, "anet-hub why AID", "anet-hub why AID --cap text.digest --json"), agentIDs)
}

func (p *Program) showWhy(v wire.Why) error {
	err := p.show(v, func(w io.Writer) {
		for _, g := range v.Gates {
			fmt.Fprintf(w, "%s\t%s\t%s\n", g.Gate, g.State, plain.Line(g.Says))
		}
		if v.Hint != "" {
			fmt.Fprintf(w, "what to do\t\t%s\n", v.Hint)
		}
	})
	if err == nil && !v.Listed {
		return cmdline.Ran(answer{errs.New(errs.NotFound, "not_listed", "lists do not show it: %s", v.Reason)})
	}
	return err
}
