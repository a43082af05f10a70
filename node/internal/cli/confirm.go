package cli

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/errs"
)

// confirm asks a person before something is opened. Without one it takes the
// flag: what runs by itself must not widen what the node does for strangers
// because a default said yes.
func (p *Program) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !terminal(p.In) {
		return wrongUse("%s\nThis is asked at a terminal; where there is none, say --yes", question)
	}
	p.note("%s", question)
	p.Err.Write([]byte("Type yes to go on: "))
	answer, err := unlessStopped(ctx, func() (string, error) { return bufio.NewReader(p.In).ReadString('\n') })
	if err != nil && answer == "" {
		return err
	}
	if strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return nil
	}
	return errs.New(errs.Conflict, "not_confirmed", "nothing was changed")
}

func yesFlag(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "do not ask")
}
