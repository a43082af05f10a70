package cmdline

import (
	"context"
	"errors"

	"github.com/anet-hub/anet/shared/errs"
)

// Stopped is the reason of a command that a person, or a service manager, ended.
const Stopped = "stopped"

// interrupted puts the end of a command that was told to stop into words: its
// parts know of a context alone. What is not certain stays so.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || Misused(err) {
		return err
	}
	if e := errs.As(err); e != nil {
		return Ran(errs.New(e.Kind, e.Reason, "stopped: %s", e.Message))
	}
	return Ran(errs.New(errs.Internal, Stopped, "stopped before it was done"))
}
