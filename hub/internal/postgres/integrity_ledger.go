package postgres

import (
	"context"
	"fmt"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// ledger audits the books, as "credit audit" does. Without an identity nothing was
// ever issued.
func (i *Integrity) ledger(ctx context.Context) (wrong []string, err error) {
	blob, _, err := NewIdentity(i.pool, nil).Load(ctx)
	if errs.KindOf(err) == errs.NotFound {
		if seq, _, err := NewLedger(i.pool, nil).Head(ctx); err != nil || seq > 0 {
			return []string{"credits were issued by a hub without an identity"}, err
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hub, err := identity.LoadController(blob)
	if err != nil {
		return nil, fmt.Errorf("the hub's identity: %w", err)
	}
	err = NewLedger(i.pool, nil).Audit(ctx, func(books ledger.Reader) error {
		r, err := ledger.Examine(ctx, hub.History(), identity.NewCache(integrityHistories).Replay, books)
		wrong = r.Wrong
		return err
	})
	return wrong, err
}
