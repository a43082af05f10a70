package ledger

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Key is the hub's identity, which signs receipts, vouchers and the chain.
type Key interface {
	// Current gives the identity, nil while there is none.
	Current() *identity.Controller
}

// Peers are the hubs that this one may clear with and that witness its chain. Every
// failure of a call means that its outcome is not known.
type Peers interface {
	// All are their AIDs, in the order of the table.
	All() []string
	// History is the key history that is pinned for one; false for anybody else, and
	// before it was proven.
	History(aid string) (*identity.History, bool)
	// Name is what one is called in metrics, empty for nobody.
	Name(aid string) string
	// Endpoint is where one is reached.
	Endpoint(aid string) string

	// Settle brings a payment to the facilitator of one, as it is.
	Settle(ctx context.Context, hub string, req payment.FacilitatorRequest) (payment.SettlementResponse, error)
	// Verify asks one what it thinks of a payment on its own ledger, and moves nothing.
	Verify(ctx context.Context, hub string, req payment.FacilitatorRequest) (payment.VerifyResponse, error)
	// HomeOf asks which of these an agent is registered at, empty for none.
	HomeOf(ctx context.Context, hubs []string, aid string) (string, error)
	// Clear brings a statement of this hub, self, to one.
	Clear(ctx context.Context, hub, self string, receipt []byte) error
	// Head asks for the end of the chain of one.
	Head(ctx context.Context, hub string) (wire.ChainHead, error)
	// Witness brings an attestation to the hub whose chain it is about.
	Witness(ctx context.Context, hub string, attestation []byte) error
}

// Deps is what a ledger stands on, all of it required; the limiters where payments
// are judged, which no command of an operator does.
type Deps struct {
	Store   Store
	Key     Key
	Peers   Peers
	Replay  func(kel []byte) (*identity.History, error) // usually from a cache
	Grants  uint64                                      // credits for a first registration, 0 for none
	Payers  *admission.Limiter                          // by the agent whose payments are written down
	Bearers *admission.Limiter                          // by the address that has payments looked at for nothing
	Askers  *admission.Limiter                          // by the address that has peers asked for nothing
	Asked   *admission.Limiter                          // by the peer that is asked for nothing
	Now     func() time.Time
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Ledger is the credits of one hub.
type Ledger struct {
	Deps
	metrics  *metrics
	supply   kept[Supply]
	seen     kept[Witnesses]
	shelf    kept[Shelf]
	vetted   vetted
	settled  heard[payment.SettlementResponse] // by peers
	homes    heard[string]                     // of payees
	underway underway
}

// New makes the rules over their store.
func New(d Deps) *Ledger {
	return &Ledger{Deps: d, metrics: newMetrics(d.Metrics), supply: kept[Supply]{least: supplyFor}}
}

// hub is the identity, or the failure of a hub that has none yet.
func (l *Ledger) hub() (*identity.Controller, error) {
	if key := l.Key.Current(); key != nil {
		return key, nil
	}
	return nil, errs.New(errs.Unavailable, "hub_identity_missing", "this hub has no identity yet").After(5 * time.Second)
}

// now is the time as the wire knows it.
func (l *Ledger) now() time.Time { return l.Now().UTC().Truncate(time.Millisecond) }

func millis(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) }

// Refusal is a payment that did not move anything, for one of the constants of
// wire 2, K.3.
type Refusal struct {
	Reason   string
	Detail   string // for people
	Original string // the transaction that used up the binding
}

func (r *Refusal) Error() string { return r.Reason + ": " + r.Detail }

func refuse(reason, detail string) *Refusal { return &Refusal{Reason: reason, Detail: detail} }

// asRefusal keeps the reason of a check of shared/payment.
func asRefusal(err error) *Refusal {
	if e := errs.As(err); e != nil {
		return refuse(e.Reason, e.Message)
	}
	return refuse(payment.MalformedPayment, "the payment cannot be read")
}
