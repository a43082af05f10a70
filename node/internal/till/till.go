// Package till takes payment for the calls of this node: it quotes, checks what
// it is given, has a ledger settle it, and then lets the work be done (wire 2,
// section K.6).
//
// The one rule: the ledger decides, and the work comes after. While it is not
// known what the ledger did, the same payment is brought again; the work is not
// done, not refused, and no other payment is taken.
package till

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/task"
)

// Ledger is where payments are settled.
type Ledger interface {
	// Networks are those that payment is taken on, the own hub's first. There are
	// none while the hub keeps no ledger or could not be asked yet.
	Networks() []string
	// Settle brings a payment. After a failure nothing is known of its outcome,
	// unless the kind is Invalid: then the ledger refused the request itself.
	Settle(ctx context.Context, r payment.FacilitatorRequest) (payment.SettlementResponse, error)
	// KEL is the key history of a hub, which proves itself; fresh where what is
	// known of it did not do.
	KEL(ctx context.Context, hub string, fresh bool) ([]byte, error)
}

// Parts is what a till works with. Without a Ledger nothing is sold.
type Parts struct {
	AID      string
	Journal  *journal.Journal
	Dispatch *dispatch.Dispatch
	Ledger   Ledger
	Log      *slog.Logger
	Now      func() time.Time
}

// Till sells calls.
type Till struct {
	Parts
	poke chan struct{}
}

// New makes a till; Run does what takes time.
func New(p Parts) *Till { return &Till{Parts: p, poke: make(chan struct{}, 1)} }

// Item is what is for sale.
type Item struct {
	Price       uint64
	Description string
	networks    []string
}

// Sells looks whether the id as called has a price that can be paid here. One
// that has a price and cannot be paid is not sold, and not given away.
func (t *Till) Sells(capID string) (Item, bool) {
	if !Built || t.Ledger == nil {
		return Item{}, false
	}
	price, description, priced := t.Dispatch.Price(capID)
	networks := t.Ledger.Networks()
	if !priced || len(networks) == 0 || payment.CheckAmount(price) != nil {
		return Item{}, false
	}
	return Item{price, plain.Cut(description, maxDescription), networks}, true
}

const maxDescription = 512

// QuoteLife is how long a quote holds.
const QuoteLife = 24 * time.Hour

// Quote answers a new task with its price. A payment that came with the request
// is taken at once, as if it followed the quote.
func (t *Till) Quote(tx *journal.Tx, k *journal.Task, item Item, prepaid []byte) error {
	required, err := codec.MarshalJSON(payment.NewQuote(k.Capability, item.Description, t.AID, item.Price, item.networks))
	if err != nil {
		return err
	}
	k.Effect = string(effect.PaymentRequired)
	k.To(task.InputRequired, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	q := journal.Quote{Task: k.ID, Required: required, Exp: tx.Now().Add(QuoteLife)}
	if err := tx.PutQuote(q); err != nil {
		return err
	}
	if len(prepaid) > 0 {
		return t.Take(tx, k, prepaid, func() bool { return false })
	}
	words := fmt.Sprintf("A call of %s costs %d credits.", k.Capability, item.Price)
	return t.Dispatch.Tell(tx, k, task.InputRequired, words, quoted(q, payment.StatusRequired))
}

// quoted is the metadata of a quote that can be paid.
func quoted(q journal.Quote, s payment.Status) map[string]any {
	return map[string]any{
		task.KeyPaymentStatus: s, task.KeyPaymentRequired: json.RawMessage(q.Required), task.KeyQuoteExpires: q.Exp.UnixMilli(),
	}
}

// Holds reports whether a payment for the task is being settled or was settled.
// Such work is not cancelled.
func Holds(tx *journal.Tx, id string) (bool, error) {
	_, found, err := tx.Sale(id)
	return found, err
}

// Poke has Run look for what was taken.
func (t *Till) Poke() {
	select {
	case t.poke <- struct{}{}:
	default:
	}
}
