package cmdline

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/errs"
)

// Confirm asks a person before something is done that cannot be taken back, or
// that opens what was closed. Without a person it takes the flag: what runs by
// itself must not do it because a default said yes.
func Confirm(ctx context.Context, in io.Reader, notes io.Writer, yes bool, question string) error {
	if yes {
		return nil
	}
	if !Terminal(in) {
		return WrongUse("%s\nThis is asked at a terminal; where there is none, say --yes", question)
	}
	Note(notes, "%s", question)
	io.WriteString(notes, "Type yes to go on: ")
	answer, err := UnlessStopped(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	if err != nil && answer == "" {
		return err
	}
	if strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return nil
	}
	return errs.New(errs.Conflict, "not_confirmed", "nothing was changed: only the word yes goes on")
}

// YesFlag adds the flag for Confirm.
func YesFlag(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "do not ask")
}
