// Package app puts one hub process together: the database, the rules, the
// HTTP face and the loops behind them. main and the stories of e2e start hubs
// the same way, through New and Run.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/postgres"
)

// App is one hub process, ready to run.
type App struct {
	cfg  Config
	log  *slog.Logger
	data *Database
	hub  *hub
	at   *faces
	run  []func() error

	slack time.Duration // more for each part of a stop, where nobody waits for it
}

// New binds the listening addresses, opens the database (starting a private one
// where none is configured), brings its schema up to date, and finds or makes
// the hub's identity. Nothing is served before Run.
func New(ctx context.Context, cfg Config, log *slog.Logger, reg *prometheus.Registry) (*App, error) {
	at, err := cfg.listen()
	if err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log, at: at}
	if err := a.build(ctx, reg); err != nil {
		return nil, errors.Join(err, at.close(), a.data.Close(ctx))
	}
	return a, nil
}

func (a *App) build(ctx context.Context, reg *prometheus.Registry) (err error) {
	if a.data, err = OpenDatabase(ctx, a.cfg, a.log); err != nil {
		return err
	}
	if err := a.schema(ctx); err != nil {
		return err
	}
	key, err := hubkey.Open(ctx, postgres.NewIdentity(a.data.DB.Pool, clock), clock(), a.log)
	if err != nil {
		return err
	}
	if err := a.filePeers(ctx, key.Current().AID()); err != nil {
		return err
	}
	a.hub, err = newHub(ctx, a.cfg, a.log, reg, a.data, key)
	if err != nil {
		return err
	}
	a.run = a.at.show(a.hub, a.log)
	return nil
}

// Addr is the address it listens on.
func (a *App) Addr() string { return a.at.api.Addr().String() }

// AID is the hub's own id.
func (a *App) AID() string { return a.hub.key.Current().AID() }

// Run serves until ctx ends, then stops: waiting polls get an empty answer,
// the loops write down what they hold, a private database is shut down.
func (a *App) Run(ctx context.Context) error {
	defer runtime.KeepAlive(headroom())
	a.log.Info("hub is up", "listen", a.Addr(), "aid", a.AID(), "pid", os.Getpid())
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	g, gctx := errgroup.WithContext(loops)
	for _, run := range a.hub.loops {
		g.Go(func() error { return run(gctx) })
	}
	g.Go(func() error { a.tellReady(gctx); return nil })
	for _, face := range a.run {
		g.Go(func() error { return a.serve(face) })
	}
	select {
	case <-ctx.Done():
	case <-gctx.Done():
	}
	err := a.stop(ctx, stopLoops, g)
	a.log.Info("hub is down")
	return err
}

func (a *App) serve(face func() error) error {
	if err := face(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// stop goes from the outside in: no new requests, no waiting polls, then the
// loops, then the database.
func (a *App) stop(ctx context.Context, stopLoops func(), g *errgroup.Group) error {
	a.hub.endPolls()
	parts := []part{
		{"requests", requestsBy, a.at.hangUp},
		{"loops", loopsBy, func(context.Context) error { stopLoops(); return g.Wait() }},
	}
	parts = append(parts, a.data.parts()...)
	for i := range parts {
		parts[i].by += a.slack
	}
	return stop(ctx, parts...)
}
