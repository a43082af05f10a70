package app

import (
	"context"
	"log/slog"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/httpapi"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/liveness"
	"github.com/anet-hub/anet/hub/internal/outbound"
	"github.com/anet-hub/anet/hub/internal/peers"
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
	// askedRate and askedBurst bound what strangers have one peer asked in vain.
	askedRate, askedBurst = 10 * 60, 200
)

// hub is the rules of one process on their stores, with their loops.
type hub struct {
	api   *httpapi.API
	key   *hubkey.Keeper
	loops []func(context.Context) error

	board  *wake.Board
	keeper *certs.Keeper // nil where a proxy does TLS
	public *url.URL

	credits *ledger.Ledger
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

// base is what the rules of one process stand on.
type base struct {
	cfg       Config
	log       *slog.Logger
	reg       *prometheus.Registry
	pool      *pgxpool.Pool
	remembers replay.Bounds
	proofs    *postgres.Replay
	agents    *postgres.Directory
	histories *identity.Cache
	memory    *budget.Budget
	presence  *liveness.Presence
	life      *liveness.Batcher
	counts    *liveness.Counts
	peers     *peers.Table
	circuits  *peers.Circuits
	prover    *peers.Prover
	watch     *peers.Watch
	outbound  *outbound.Client
	calls     *forward.Queue
	forwards  *forward.Metrics
}

func newBase(ctx context.Context, cfg Config, log *slog.Logger, reg *prometheus.Registry, pool *pgxpool.Pool) (*base, error) {
	b := &base{cfg: cfg, log: log, reg: reg, pool: pool, remembers: replay.BoundsFor(cfg.SendRate, cfg.SendBurst)}
	b.proofs = postgres.NewReplay(pool, b.remembers, clock, log)
	if err := b.proofs.Sweep(ctx); err != nil {
		return nil, err
	}
	b.agents = postgres.NewDirectory(pool, b.proofs)
	b.presence = liveness.NewPresence(b.agents, cfg.ages(), clock, log)
	if err := b.presence.Beat(ctx); err != nil {
		return nil, err
	}
	b.histories, b.memory, b.counts = identity.NewCache(historyCache), budget.New(int64(cfg.Memory)), liveness.NewCounts(reg)
	b.life = liveness.New(b.agents, b.presence, b.counts, log)
	return b, b.federate(ctx)
}

func newHub(ctx context.Context, cfg Config, log *slog.Logger, reg *prometheus.Registry, data *Database, key *hubkey.Keeper) (*hub, error) {
	b, err := newBase(ctx, cfg, log, reg, data.DB.Pool)
	if err != nil {
		return nil, err
	}
	mail, bus := postgres.NewRelay(b.pool, b.proofs), postgres.NewBus(data.DB.Direct, b.pool)
	h := &hub{key: key, board: wake.NewBoard(mail, bus, log)}
	if h.keeper, err = newKeeper(cfg, postgres.NewCerts(b.pool, clock), log); err != nil {
		return nil, err
	}
	if h.public, err = url.Parse(cfg.PublicURL); err != nil {
		return nil, err
	}
	rules := b.newRelay(mail, h.board, b.newOrigin(key))
	between := b.newFederation(key, rules)
	schema, backups := postgres.NewSchema(b.pool, log), postgres.NewBackups(b.pool)
	measured{b.pool, b.memory, b.proofs, h.keeper, clock}.register(reg)
	registerBackupAges(reg, backups, clock)
	h.credits = b.newLedger(key)
	if h.api, err = b.newAPI(key, schema, rules, between, h.credits); err != nil {
		return nil, err
	}
	sweeper := liveness.NewSweeper(b.agents, b.presence, b.counts, clock, log)
	h.loops = []func(context.Context) error{
		key.Run, schema.Run, b.peers.Run, b.prover.Run, b.watch.Run, b.proofs.Run, b.presence.Run, b.life.Run, sweeper.Run,
		listening(h.board, bus), rules.Run, between.Receiver.Run, backups.Run,
	}
	h.loops = append(h.loops, h.credits.Run, h.credits.RunMeasure)
	if cfg.Witness != "off" {
		h.loops = append(h.loops, h.credits.RunWitness)
	}
	puller := b.newPuller()
	h.loops = append(h.loops, puller.Run, puller.Watch, feed.NewNumberer(postgres.NewFeed(b.pool), b.agents.Marked(), clock, log).Run)
	if h.keeper != nil {
		h.loops = append(h.loops, h.keeper.Run)
	}
	return h, nil
}

func (b *base) newRelay(mail *postgres.Relay, board *wake.Board, elsewhere relay.Elsewhere) *relay.Relay {
	return relay.New(relay.Deps{
		Store: mail, Board: board, Seen: b.life, Now: clock, Log: b.log, Metrics: b.reg,
		Senders: admission.NewLimiter(b.cfg.SendRate*60, b.cfg.SendBurst, "send_rate", clock),
		Limits:  b.cfg.mailLimits(), Elsewhere: elsewhere,
	})
}

func (b *base) newDirectory(elsewhere *forward.Finder) *httpapi.Directory {
	cfg := b.cfg
	return &httpapi.Directory{
		Rules:     directory.New(b.agents, b.life, admission.Door{InviteOnly: cfg.InviteRequired}, b.histories.Replay, clock),
		Strangers: admission.NewLimiter(cfg.RegisterRate, cfg.RegisterBurst, "register_rate", clock),
		Members:   admission.NewLimiter(memberRate, memberBurst, "register_rate_agent", clock),
		Reviews:   reviews.New(postgres.NewReviews(b.pool), b.agents, b.histories.Replay, clock),
		Reviewers: admission.NewLimiter(cfg.ReviewRate, cfg.ReviewBurst, "review_rate", clock),
		P2PPeers:  cfg.P2PPeers, Peers: b.peers,
		Elsewhere: elsewhere,
	}
}

func (b *base) newLedger(key *hubkey.Keeper) *ledger.Ledger {
	return ledger.New(ledger.Deps{
		Store: postgres.NewLedger(b.pool, b.proofs), Key: key, Replay: b.histories.Replay,
		Peers:   outbound.NewLedgers(b.outbound, b.peers, b.calls, b.histories.Replay),
		Payers:  admission.NewLimiter(b.cfg.SettleRate, b.cfg.SettleBurst, "settle_rate", clock),
		Bearers: admission.NewLimiter(b.cfg.PaymentRate, b.cfg.PaymentBurst, "payment_rate", clock),
		Askers:  admission.NewLimiter(b.cfg.SettleAbroadRate, b.cfg.SettleAbroadBurst, "settle_abroad_rate", clock),
		Asked:   admission.NewLimiter(askedRate, askedBurst, "settle_peer_rate", clock),
		Grants:  b.cfg.RegistrationGrant, Now: clock, Log: b.log, Metrics: peers.Following{Registerer: b.reg, Table: b.peers},
	})
}

func (b *base) newAPI(key *hubkey.Keeper, schema *postgres.Schema, rules *relay.Relay, between *httpapi.Federation, credits *ledger.Ledger) (*httpapi.API, error) {
	proxies, err := b.cfg.proxies()
	if err != nil {
		return nil, err
	}
	listed := b.newDirectory(b.newFinder(key))
	return httpapi.New(httpapi.Deps{
		Signers: b.agents, Key: key, Replays: b.histories, Budget: b.memory,
		Checks: []httpapi.Check{
			{Name: "database", Ask: b.pool.Ping},
			{Name: "schema", Ask: schema.Served},
			{Name: "identity", Ask: key.Ready},
		},
		Down: postgres.Down, Remembers: b.remembers,
		Proxies: proxies, PublicURL: b.cfg.PublicURL, Version: version.String(),
		Log: b.log, Metrics: b.reg, Gather: b.reg, Now: clock,
	}, listed, &httpapi.Mail{Relay: rules}, between, b.newStreams(),
		&httpapi.Payments{Ledger: credits}, &httpapi.Pages{Directory: listed, Peers: b.watch}), nil
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
