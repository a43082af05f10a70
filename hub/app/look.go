package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/hub/internal/doctor"
	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/postgres"
)

// Look gives what only an operator sees of a hub, as far as it is there. Nothing
// is started, migrated or written, and a hub that is down is looked at all the
// same.
func Look(ctx context.Context, cfg Config, log *slog.Logger) (in doctor.Inside) {
	in.Conns = cfg.DatabaseConns
	if cfg.DatabaseURL == "" {
		in.Dir, in.None = cfg.DataDir, !embedpg.Made(cfg.DataDir)
	}
	if in.None {
		in.Dir = ""
	}
	data, err := attachRunning(ctx, cfg, log)
	if err != nil {
		in.Err = err
		return in
	}
	defer data.Close(ctx)
	if in.Err = postgres.HoldsHub(ctx, data.DB.Pool); in.Err != nil {
		return in
	}
	key, err := hubkey.Find(ctx, postgres.NewIdentity(data.DB.Pool, time.Now), log)
	if err != nil {
		in.Err = err
		return in
	}
	in.Key = key.Current()
	facts, err := data.DB.Facts(ctx, time.Now)
	if err == nil && facts.Peers {
		in.Peers, err = postgres.NewPeers(data.DB.Pool).Standings(ctx)
	}
	if in.Err = err; err == nil {
		in.Facts = &facts
	}
	return in
}
