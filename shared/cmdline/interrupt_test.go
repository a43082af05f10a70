package cmdline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/errs"
)

func TestAStopIsToldInWords(t *testing.T) {
	unsure := errs.New(errs.Unavailable, "hub_connection_lost", "the connection broke off").Because(context.Canceled)
	tests := []struct {
		name         string
		stop         bool
		fails        error
		says, reason string
	}{
		{"between two steps", true, fmt.Errorf("back up: %w", context.Canceled), "stopped before it was done", Stopped},
		{"in a request", true, unsure, "stopped: the connection broke off", "hub_connection_lost"},
		{"by itself", false, unsure, "the connection broke off: context canceled", "hub_connection_lost"},
		{"something else went wrong", true, errs.New(errs.NotFound, "gone", "it is gone"), "it is gone", "gone"},
	}
	for _, tt := range tests {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := Command("do", "", None, func(*cobra.Command, []string) error {
			if tt.stop {
				stop()
			}
			return tt.fails
		})
		c.SilenceErrors, c.SilenceUsage = true, true
		_, err := Execute(ctx, c, strings.NewReader(""), nil, nil, nil)
		if err == nil || err.Error() != tt.says || !errs.Is(err, tt.reason) || Misused(err) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
}
