package ledger

import (
	"context"
	"time"

	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/payment"
)

// Selling is what is sold at the gateway, as lists show it: the offers of shown agents in
// cards that are dated since some time.
type Selling interface {
	// Shelf counts them, and marks each that begins a stretch of so many.
	Shelf(ctx context.Context, since time.Time, stretch int) (Shelf, error)
	// Offers gives a page of them from a mark on, after skipping some.
	Offers(ctx context.Context, since time.Time, from Mark, skip, limit int) ([]Listed, error)
	// OffersOf gives all of one agent.
	OffersOf(ctx context.Context, since time.Time, seller string) ([]Listed, error)
}

// Listed is an offer as lists show it.
type Listed struct {
	Mark
	Price uint64
	At    time.Time // of the card
}

// Mark is where an offer stands in the order of all.
type Mark struct{ AID, Capability string }

// Shelf is how many offers there are, and where each stretch of them begins: x402
// asks for pages by numbers, and nobody counts up to them for each.
type Shelf struct {
	Total int64
	Marks []Mark
}

// stretch is the offers between two marks.
const stretch = 100

// Offers lists what is sold here, or by one seller. A card that is older than cards are
// good for is not listed: its seller has not renewed it, and is hardly there to take a
// voucher. It goes on selling to who knows it, as the wire has it.
func (l *Ledger) Offers(ctx context.Context, seller string, limit, offset int) (page []Listed, total int64, err error) {
	since := l.Now().Add(-adp.Lifetime)
	if seller != "" {
		all, err := l.Store.OffersOf(ctx, since, seller)
		from := min(offset, len(all))
		return all[from:min(from+limit, len(all))], int64(len(all)), err
	}
	shelf, err := l.shelf.get(ctx, l.Now, func(ctx context.Context) (Shelf, error) { return l.Store.Shelf(ctx, since, stretch) })
	if err != nil || int64(offset) >= shelf.Total {
		return nil, shelf.Total, err
	}
	page, err = l.Store.Offers(ctx, since, shelf.Marks[offset/stretch], offset%stretch, limit)
	return page, shelf.Total, err
}

// Quote is the option of a listed offer.
func (l *Ledger) Quote(o Listed) (payment.Requirements, error) {
	hub, err := l.hub()
	if err != nil {
		return payment.Requirements{}, err
	}
	return Offer{Seller: o.AID, Price: o.Price, Network: payment.Network(hub.AID())}.Option(), nil
}
