package app

import (
	"context"
	"testing"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/errs"
)

// Whether a call was certainly not attempted hangs on this table.
func TestMayArrive(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"taken", nil, false},
		{"never connected", errs.New(errs.Unavailable, hubclient.Unreachable, "x"), false},
		{"connection lost", errs.New(errs.Unavailable, hubclient.ConnectionLost, "x"), true},
		{"the hub is busy", errs.New(errs.Unavailable, "busy", "x"), false},
		{"the hub failed inside", errs.New(errs.Internal, "internal", "x"), true},
		{"a hub behind the hub failed", errs.New(errs.BadGateway, "peers_failed", "x"), true},
		{"mailbox full", errs.New(errs.Full, "mailbox_full", "x"), false},
		{"no such recipient", errs.New(errs.NotFound, "unknown_recipient", "x"), false},
		{"rate", errs.New(errs.TooMany, "rate_limited", "x"), false},
		{"taken by a hub that says it speaks an older wire", errs.New(errs.UpgradeRequired, hubclient.WireTooOld, "x"), true},
		{"a hub that wants a newer wire", errs.New(errs.UpgradeRequired, hubclient.WireTooNew, "x"), false},
		{"an error nobody classified", context.DeadlineExceeded, true},
	} {
		if got := mayArrive(tt.err); got != tt.want {
			t.Errorf("%s: mayArrive = %v, want %v", tt.name, got, tt.want)
		}
	}
}
