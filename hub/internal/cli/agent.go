package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

func (p *Program) agentCommands() *cobra.Command {
	return cmdline.Group("agent", "Suspend an agent of this hub, or lift that",
		p.standingCommand("suspend", "Refuse all an agent asks for, and list it nowhere; nothing of it is lost", "suspended",
			func(j *job) func(context.Context, audit.Act) error { return j.Members.Suspend }),
		p.standingCommand("resume", "Lift a suspension; the agent is listed again as it was", "resumed",
			func(j *job) func(context.Context, audit.Act) error { return j.Members.Resume }))
}

func (p *Program) standingCommand(name, short, done string, change func(*job) func(context.Context, audit.Act) error) *cobra.Command {
	c := p.acting(name+" AID", short, cmdline.Exactly("an AID"), func(ctx context.Context, j *job) error {
		aid := j.args[0]
		if !identity.ValidAID(aid) {
			return errs.New(errs.Invalid, "aid_malformed", "this is no agent id").In("aid")
		}
		if err := change(j)(ctx, j.by.Did("agent."+name, aid, p.Now())); err != nil {
			return err
		}
		return p.show(map[string]string{"aid": aid, "status": done}, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s\n", done, aid) })
	})
	return cmdline.Example(c, "anet-hub agent "+name+" AID --reason 'asked by its owner'")
}
