package postgres

import (
	"context"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// Progress implements peers.Entries.
func (s *Peers) Progress(context.Context, int64) ([]peers.Progress, error) { return nil, nil }
