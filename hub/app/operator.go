package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/liveness"
	"github.com/anet-hub/anet/hub/internal/outbound"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Operator is what an operator command works with: the hub's database, without
// a hub around it. It works beside processes that serve.
type Operator struct {
	Invites    *admission.Desk
	Moderation *postgres.Moderation
	Audit      *postgres.Audit
	Backups    *postgres.Backups
	Peers      *peers.Desk
	Scout      learned.Scout
	Credits    *ledger.Ledger

	cfg  Config
	log  *slog.Logger
	data *Database
	key  *hubkey.Keeper

	table *peers.Table // empty before ReadPeers
}

// NewOperator finds the database the way serve does. A private PostgreSQL that
// runs is used as it is; one that does not is started for the command. Where no
// hub was made yet there is nothing to work on: a mistyped folder or database
// would otherwise become a hub with an identity of its own. Nor is a schema
// migrated on the side: who looks at a hub decides nothing about it.
func NewOperator(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	op, err := AnySchema(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrated(ctx, op.data.DirectURL()); err != nil {
		return nil, errors.Join(err, op.Close(ctx))
	}
	return op, nil
}

// AnySchema is an operator for a hub whatever the version of its schema, for what
// comes before a migration.
func AnySchema(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	data, err := AttachDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	op, err := newOperator(cfg, log, data)
	if err == nil {
		err = op.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, data.Close(ctx))
	}
	return op, nil
}

// Glance is an operator that only looks at a hub that runs, and never starts or
// migrates anything: for what a shell asks while somebody types.
func Glance(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	data, err := attachRunning(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return newOperator(cfg, log, data)
}

func newOperator(cfg Config, log *slog.Logger, data *Database) (*Operator, error) {
	pool := data.DB.Pool
	calls, err := cfg.Outbound()
	if err != nil {
		return nil, err
	}
	op := &Operator{
		Invites:    admission.NewDesk(postgres.NewInvites(pool), time.Now),
		Moderation: postgres.NewModeration(pool), Audit: postgres.NewAudit(pool), Backups: postgres.NewBackups(pool),
		Peers: peers.NewDesk(postgres.NewPeers(pool), calls, time.Now),
		Scout: learned.Scout{
			Vetter: learned.Vetter{Replay: identity.Replay, Now: time.Now}, Net: calls, Room: cfg.peerQuota(),
			Records: postgres.NewLearned(pool, cfg.peerQuota()), Here: postgres.NewHere(pool),
		},
		cfg: cfg, log: log, data: data,
	}
	op.table = peers.NewTable(postgres.NewPeers(pool), cfg.switches(), log)
	replay := identity.NewCache(historyCache).Replay
	op.Credits = ledger.New(ledger.Deps{
		Store: postgres.NewLedger(pool, nil), Key: op, Replay: replay, Now: time.Now, Log: log, Metrics: prometheus.NewRegistry(),
		Peers: outbound.NewLedgers(calls, op.table, peers.NewCircuits(time.Now), replay),
	})
	return op, nil
}

// ReadPeers readies the calls of peers, for commands that make some.
func (o *Operator) ReadPeers(ctx context.Context) error { return o.table.Refresh(ctx) }

// Current is the hub's identity, nil where the operator only glances.
func (o *Operator) Current() *identity.Controller {
	if o.key == nil {
		return nil
	}
	return o.key.Current()
}

// open finds the hub in the database. One that was never there may be coming.
func (o *Operator) open(ctx context.Context) error {
	err := postgres.HoldsHub(ctx, o.data.DB.Pool)
	if err == nil {
		o.key, err = hubkey.Find(ctx, postgres.NewIdentity(o.data.DB.Pool, time.Now), o.log)
	}
	if errs.KindOf(err) == errs.NotFound {
		return postgres.Underway(ctx, o.data.DirectURL(), err)
	}
	return err
}

// Why tells why lists of the hub show an agent, or not, as the hub itself would.
func (o *Operator) Why(ctx context.Context, aid, capID string) (wire.Why, error) {
	store, log := postgres.NewDirectory(o.data.DB.Pool, nil), slog.New(slog.DiscardHandler)
	ages, err := store.Ages(ctx)
	if err != nil {
		return wire.Why{}, err
	}
	presence := liveness.NewPresence(store, ages, time.Now, log)
	if err := presence.Look(ctx); err != nil {
		return wire.Why{}, err
	}
	life := liveness.New(store, presence, liveness.NewCounts(prometheus.NewRegistry()), log)
	return directory.New(store, life, admission.Door{}, identity.Replay, time.Now).Why(ctx, aid, capID)
}

// Close lets go of the database.
func (o *Operator) Close(ctx context.Context) error { return o.data.Close(ctx) }

// AID is the hub's own.
func (o *Operator) AID() string { return o.key.Current().AID() }

// IdentityView is what the identity commands print.
type IdentityView struct {
	AID string `json:"aid"`
	Seq uint64 `json:"seq"` // the key state that signs
	KEL []byte `json:"kel"`
}

// Identity shows the hub's identity.
func (o *Operator) Identity(context.Context) (IdentityView, error) {
	c := o.key.Current()
	return IdentityView{AID: c.AID(), Seq: c.Seq(), KEL: c.KEL()}, nil
}

// Rotate replaces the signing key.
func (o *Operator) Rotate(ctx context.Context, by audit.By) (IdentityView, error) {
	if _, err := o.key.Rotate(ctx, by, time.Now()); err != nil {
		return IdentityView{}, err
	}
	return o.Identity(ctx)
}
