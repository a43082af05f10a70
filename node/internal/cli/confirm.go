package cli

import (
	"context"

	"github.com/anet-hub/anet/shared/cmdline"
)

// confirm asks a person before something is opened.
func (p *Program) confirm(ctx context.Context, yes bool, question string) error {
	return cmdline.Confirm(ctx, p.In, p.Err, yes, question)
}
