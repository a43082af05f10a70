package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
)

// Exit codes.
const (
	exitDone  = 0
	exitError = 1
	exitUse   = 2
	exitNo    = 3 // what was asked about does not hold
)

// exits are the codes of all commands, for the help of the program.
var exits = []cmdline.Meaning{
	cmdline.Means(exitDone, "the command did its work"),
	cmdline.Means(exitError, "error"),
	cmdline.Means(exitUse, "wrong use: the command line or an argument cannot be right"),
	cmdline.Means(exitNo, "no: invite check, the invite lets nobody in; restore --check, the backup is not whole; why, lists do not show the agent; doctor, something was found"),
}

// answer is a result that was printed and is a no.
type answer struct{ error }

func (a answer) Unwrap() error { return a.error }

// shown is a result that was printed and is an error.
type shown struct{ error }

func code(err error) int {
	var no answer
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &no):
		return exitNo
	case cmdline.Misused(err), errs.KindOf(err) == errs.Invalid:
		return exitUse
	}
	return exitError
}

// report tells what went wrong and gives the exit code.
func (p *Program) report(cmd *cobra.Command, err error) int {
	c := code(err)
	if c == exitDone {
		return c
	}
	cmdline.Note(p.Err, "anet-hub: %v", err)
	if cmdline.Misused(err) {
		fmt.Fprintf(p.Err, "see: %s --help\n", cmd.CommandPath())
	}
	if p.json && c != exitNo && !errors.As(err, new(shown)) {
		_ = cmdline.WriteJSON(p.Out, cmdline.ProblemOf(err, c)) // stdout is gone: stderr has it, and the exit code
	}
	return c
}
