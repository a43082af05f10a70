package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/voucher"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Exit codes. 4 to 8 also say what became of a task that was waited for.
const (
	exitDone       = 0 // the effect happened, or the command did its work
	exitError      = 1
	exitUse        = 2 // the command line, or an argument, cannot be right
	exitDifference = 3 // status: the hub lists something else; doctor: a finding
	exitRefused    = 4 // refused or unavailable: nothing was done
	exitFailed     = 5
	exitUnverified = 6 // it may have happened; nobody here can tell
	exitPayment    = 7
	exitWaiting    = 8 // --wait ended first
)

// kinds are the exit codes of failures; those not named are errors.
var kinds = map[errs.Kind]int{
	errs.Invalid:         exitUse,
	errs.Unauthorized:    exitRefused,
	errs.PaymentRequired: exitRefused,
	errs.Forbidden:       exitRefused,
	errs.UpgradeRequired: exitRefused,
	errs.TooMany:         exitRefused,
	errs.BadGateway:      exitRefused,
	errs.Unavailable:     exitRefused,
	errs.Full:            exitRefused,
}

// uncertain are failures after which nobody knows what the other end did. To
// call them refused would invite a second attempt.
var uncertain = []string{
	control.ConnectionLost, hubclient.ConnectionLost,
	voucher.ConnectionLost, voucher.LostBehind, voucher.BadAnswer, voucher.Spent, voucher.Pending, voucher.Mismatch,
}

// effects are the exit codes of what a call came to.
var effects = map[effect.Status]int{
	effect.OK:              exitDone,
	effect.Unverified:      exitUnverified,
	effect.Failed:          exitFailed,
	effect.Unavailable:     exitRefused,
	effect.PaymentRequired: exitPayment,
}

// states are the exit codes of tasks without an effect.
var states = map[task.State]int{
	task.Completed: exitDone,
	task.Rejected:  exitRefused,
	task.Canceled:  exitRefused,
	task.Failed:    exitFailed,
}

// outcome is the exit code of a task that was waited for. An effect is worth no
// more than the receipt that goes with it.
func outcome(t node.Task) int {
	if t.Effect != nil && effect.Status(*t.Effect) == effect.PaymentRequired {
		return exitPayment
	}
	if !t.Ended {
		return exitWaiting
	}
	code, known := states[task.State(t.State)]
	if t.Effect != nil {
		code, known = effects[effect.Status(*t.Effect)]
	}
	if !known || code == exitDone && t.ReceiptVerified == "unverified" {
		return exitUnverified
	}
	return code
}

// status ends the program with a code and no further word.
type status int

func (s status) Error() string { return fmt.Sprintf("exit %d", int(s)) }

// exitWith is nil for success.
func exitWith(code int) error {
	if code == exitDone {
		return nil
	}
	return status(code)
}

// code is the exit code of an error.
func code(err error) int {
	var s status
	var o *ownWords
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &o):
		return o.exit
	case errors.As(err, &s):
		return int(s)
	case cmdline.Misused(err):
		return exitUse
	}
	switch e := errs.As(err); {
	case e != nil && slices.Contains(uncertain, e.Reason):
		return exitUnverified
	case e != nil && e.Reason == voucher.StillAtWork:
		return exitWaiting
	}
	if c, ok := kinds[errs.KindOf(err)]; ok {
		return c
	}
	return exitError
}

// report tells what went wrong and gives the exit code.
func (p *Program) report(cmd *cobra.Command, err error) int {
	var s status
	c := code(err)
	if err == nil || errors.As(err, &s) {
		return c
	}
	p.note("anet: %v", err)
	if e := errs.As(err); e != nil && next[e.Reason] != "" {
		p.note("next: %s", next[e.Reason])
	}
	if cmdline.Misused(err) {
		fmt.Fprintf(p.Err, "see: %s --help\n", cmd.CommandPath())
	}
	if p.json {
		_ = cmdline.WriteJSON(p.Out, cmdline.ProblemOf(err, c)) // stdout is gone: stderr has it, and the exit code
	}
	return c
}
