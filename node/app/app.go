// Package app is the node as a program: it opens a data folder, starts every
// part of a node over it and ends them again. Package main parses flags and
// calls New and Run; a test does the same.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/node/internal/provider/service"
	"github.com/anet-hub/anet/node/internal/redeem"
	"github.com/anet-hub/anet/node/internal/till"
)

// Options say which node to run.
type Options struct {
	DataDir string
	Log     *slog.Logger
	// Providers answer beside the modules of the configuration.
	Providers []Provider
	Now       func() time.Time  // time.Now when nil
	Transport http.RoundTripper // the network when nil
}

// App is a node that has been opened. It owns its data folder until Run has
// returned, or Close was called instead.
type App struct {
	claim   *control.Claim
	socket  net.Listener
	journal *journal.Journal
	hub     *hubclient.Client // nil when no hub was joined
	node    *node.Node
	home    *home.Home
	door    net.Listener // for vouchers; nil where none are taken
	api     API
	log     *slog.Logger
}

// New opens the folder and reads the configuration, once. Nothing is received,
// sent or registered before Run.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := datadir.Open(o.DataDir)
	if err != nil {
		return nil, err
	}
	claim, err := control.Take(dir)
	if err != nil {
		return nil, err
	}
	a := &App{claim: claim, log: o.Log}
	if err := a.open(ctx, dir, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// open builds the parts, the cheap and refusing ones first.
func (a *App) open(ctx context.Context, dir datadir.Dir, o Options) error {
	cfg, err := config.Load(dir)
	if err != nil {
		return err
	}
	for _, told := range cfg.Warnings() {
		o.Log.Warn("config: " + told)
	}
	registry, err := registryOf(cfg, o.Providers)
	if err != nil {
		return err
	}
	keys, err := keyring.Open(dir, o.Now())
	if err != nil {
		return err
	}
	if a.journal, err = journal.Open(ctx, dir.Path(journal.FileName), o.Now); err != nil {
		return err
	}
	if err := a.join(dir, cfg, keys, registry, o); err != nil {
		return err
	}
	parts := node.Parts{
		Journal: a.journal, Keys: keys, Lists: peers.In(dir), Providers: registry,
		Relay: relay{hub: a.hub, home: a.home}, Policy: a.home.PolicyNow, Public: cfg.Inbound.PublicCapabilities, Strangers: cfg.Inbound.Strangers,
		Unknown: a.home.Poke, NoResponseAfter: time.Duration(cfg.NoResponseAfter), Log: o.Log, Now: o.Now,
		Limits: a.home.LimitsNow, Extended: a.home.ExtendedCard,
	}
	if a.hub != nil {
		parts.Ledger = ledger{a.hub, a.home}
	}
	a.node = node.New(parts)
	a.api = newAPI(a, o.Now)
	if x := cfg.Modules.X402; x != nil && till.Built {
		if a.door, err = net.Listen("tcp", x.Listen); err != nil {
			return fmt.Errorf("modules.x402.listen of config.json: %w", err)
		}
	}
	a.socket, err = a.claim.Listen()
	return err
}

// join makes the way to the hub that was joined, if one was.
func (a *App) join(dir datadir.Dir, cfg *config.Config, keys *keyring.Keyring, registry *provider.Registry, o Options) error {
	pin, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return err
	}
	parts := home.Parts{Dir: dir, Keys: keys, Registry: registry, Pin: pin, Config: cfg, Log: o.Log, Now: o.Now}
	if joined {
		a.hub, err = hubclient.New(hubclient.Options{Hub: pin, Signer: keys.Signer, Now: o.Now, Transport: o.Transport})
		if err != nil {
			return err
		}
		parts.Hub = a.hub
	}
	a.home, err = home.New(parts)
	return err
}

// registryOf is the table of everything that answers calls.
func registryOf(cfg *config.Config, more []Provider) (*provider.Registry, error) {
	r := &provider.Registry{}
	if cfg.Modules.Service != nil {
		p, err := service.New(cfg.Modules.Service)
		if err != nil {
			return nil, err
		}
		more = append([]Provider{p}, more...)
	}
	for _, p := range more {
		if err := r.Register(p); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// API is the running node, as the control socket offers it.
func (a *App) API() API { return a.api }

// Run works until ctx ends or somebody asks it to stop, and closes everything.
// What was done is on disk when it returns.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return control.Serve(ctx, a.socket, a.api, stop) })
	g.Go(func() error { return a.home.Run(ctx) })
	g.Go(func() error { return a.node.Run(ctx) })
	if a.door != nil {
		g.Go(func() error { return redeem.Serve(ctx, a.door, a.node, a.log) })
	}
	return errors.Join(g.Wait(), a.Close())
}

// Close ends what New opened, for who does not run it.
func (a *App) Close() error {
	var problems []error
	for _, l := range []net.Listener{a.socket, a.door} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	if a.hub != nil {
		a.hub.Close()
	}
	if a.journal != nil {
		problems = append(problems, a.journal.Close())
	}
	return errors.Join(append(problems, a.claim.Release())...)
}
