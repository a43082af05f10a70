package app

import (
	"context"
	"log/slog"
	"net/url"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/httpapi"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/liveness"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/version"
)

const (
	// historyCache bounds replayed key histories in memory (wire 2, A.7).
	historyCache = 64 << 20
	// memberRate and memberBurst bound registrations of one known AID: far above
	// what a node does, far below what would hurt.
	memberRate, memberBurst = 60, 30
)

// hub is the rules of one process on their stores, with their loops.
type hub struct {
	api   *httpapi.API
	key   *hubkey.Keeper
	loops []func(context.Context) error

	board  *wake.Board
	keeper *certs.Keeper // nil where a proxy does TLS
	public *url.URL
}

// secureHost is where HTTPS is served under the name of a request that came
// without: a name that is not this hub's is answered with one that is.
func (h *hub) secureHost(name string) string {
	if slices.Contains(h.keeper.Names, name) && h.public.Port() == "" {
		return name
	}
	return h.public.Host
}

// endPolls answers the polls that wait: nothing new is coming from here.
func (h *hub) endPolls() {
	h.board.Close()
	h.api.Close()
}

func newHub(ctx context.Context, cfg Config, log *slog.Logger, reg *prometheus.Registry, data *Database, key *hubkey.Keeper) (*hub, error) {
	proxies, err := cfg.proxies()
	if err != nil {
		return nil, err
	}
	pool, now := data.DB.Pool, clock
	remembers := replay.BoundsFor(cfg.SendRate, cfg.SendBurst)
	proofs := postgres.NewReplay(pool, remembers, now, log)
	if err := proofs.Sweep(ctx); err != nil {
		return nil, err
	}
	histories := identity.NewCache(historyCache)
	agents := postgres.NewDirectory(pool, proofs)
	mail := postgres.NewRelay(pool, proofs)
	presence := liveness.NewPresence(agents, cfg.ages(), now, log)
	if err := presence.Beat(ctx); err != nil {
		return nil, err
	}
	counts := liveness.NewCounts(reg)
	life := liveness.New(agents, presence, counts, log)
	sweeper := liveness.NewSweeper(agents, presence, counts, now, log)
	bus := postgres.NewBus(data.DB.Direct, pool)
	board := wake.NewBoard(mail, bus, log)
	memory := budget.New(int64(cfg.Memory))
	schema := postgres.NewSchema(pool, log)

	rules := relay.New(relay.Deps{
		Store: mail, Board: board, Seen: life, Now: now, Log: log, Metrics: reg,
		Senders: admission.NewLimiter(cfg.SendRate*60, cfg.SendBurst, "send_rate", now),
		Limits:  cfg.mailLimits(),
	})
	listed := &httpapi.Directory{
		Rules:     directory.New(agents, life, admission.Door{InviteOnly: cfg.InviteRequired}, histories.Replay, now),
		Strangers: admission.NewLimiter(cfg.RegisterRate, cfg.RegisterBurst, "register_rate", now),
		Members:   admission.NewLimiter(memberRate, memberBurst, "register_rate_agent", now),
		Reviews:   reviews.New(postgres.NewReviews(pool), agents, histories.Replay, now),
		Reviewers: admission.NewLimiter(cfg.ReviewRate, cfg.ReviewBurst, "review_rate", now),
		P2PPeers:  cfg.P2PPeers,
	}
	keeper, err := newKeeper(cfg, postgres.NewCerts(pool, now), log)
	if err != nil {
		return nil, err
	}
	measured{pool, memory, proofs, keeper, now}.register(reg)
	backups := postgres.NewBackups(pool)
	registerBackupAges(reg, backups, now)
	api := httpapi.New(httpapi.Deps{
		Signers: agents, Key: key, Replays: histories, Budget: memory,
		Checks: []httpapi.Check{
			{Name: "database", Ask: pool.Ping},
			{Name: "schema", Ask: schema.Served},
			{Name: "identity", Ask: key.Ready},
		},
		Down: postgres.Down, Remembers: remembers,
		Proxies: proxies, PublicURL: cfg.PublicURL, Version: version.String(),
		Log: log, Metrics: reg, Gather: reg, Now: now,
	}, listed, &httpapi.Mail{Relay: rules}, &httpapi.Pages{Directory: listed})
	h := &hub{api: api, key: key, board: board, keeper: keeper,
		loops: []func(context.Context) error{key.Run, schema.Run, proofs.Run, presence.Run, life.Run, sweeper.Run, listening(board, bus), rules.Run, backups.Run}}
	if keeper != nil {
		h.loops = append(h.loops, keeper.Run)
	}
	h.public, err = url.Parse(cfg.PublicURL)
	return h, err
}

// listening runs the board and hangs up its connection afterwards.
func listening(board *wake.Board, bus *postgres.Bus) func(context.Context) error {
	return func(ctx context.Context) error {
		defer bus.Close()
		return board.Run(ctx)
	}
}

func (c *Config) mailLimits() relay.Limits {
	return relay.Limits{
		Envelope: int64(c.Envelope), Messages: c.MailMessages, Bytes: int64(c.MailBytes),
		Total: int64(c.MailTotal), PollBudget: int64(c.PollBudget), TTL: c.MailTTL,
		QuietAfter: c.QuietAfter,
	}
}

func (c *Config) ages() directory.Ages {
	return directory.Ages{Quiet: c.QuietAfter, Hidden: c.HiddenAfter}
}
