package bench

import (
	"context"
	"errors"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/postgres"
)

// Books is a hub's store of credits without the hub around it: its statements, and
// neither HTTP nor signatures.
type Books struct {
	db    *postgres.DB
	store *postgres.Ledger
}

// OpenBooks opens the store of a running hub.
func OpenBooks(ctx context.Context, url string, conns int) (*Books, error) {
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConns: int32(conns), AppName: "bench"})
	if err != nil {
		return nil, err
	}
	return &Books{db, postgres.NewLedger(db.Pool, nil)}, nil
}

// Close lets go of the database.
func (b *Books) Close() { b.db.Close() }

// Settle asks what a payment is judged by, and moves it.
func (b *Books) Settle(ctx context.Context, authID, payer, payTo string, signed, receipt []byte) error {
	now := time.Now()
	if _, err := b.store.Standing(ctx, ledger.Question{AuthID: authID, Payer: payer, PayTo: payTo, At: now}); err != nil {
		return err
	}
	_, fresh, err := b.store.Settle(ctx, ledger.Settlement{AuthID: authID, Payer: payer, PayTo: payTo, Amount: 1,
		Signed: signed, Receipt: receipt, At: now})
	if err == nil && !fresh {
		err = errors.New("a new payment was there already")
	}
	return err
}
