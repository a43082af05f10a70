package ledger

import (
	"context"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Sizes of pages (wire 2, I.2 and K.8).
const (
	DefaultPage = 100
	MaxPage     = 500
	ChainPage   = 500

	// LinkBytes is what a link of the chain takes up at most, as it is shown; so do
	// an attestation, a redemption with its receipt, and an offer.
	LinkBytes = 2 << 10

	DefaultOffers = 20
	MaxOffers     = 100
)

// Own reads the account of whoever signed the request.
func (l *Ledger) Own(ctx context.Context, p replay.Proof) (Account, error) {
	if err := l.Store.Remember(ctx, p); err != nil {
		return Account{}, err
	}
	return l.Store.Account(ctx, p.AID)
}

// OwnEntries is Own with the newest page of entries.
func (l *Ledger) OwnEntries(ctx context.Context, p replay.Proof, n int) (Account, []Entry, error) {
	a, err := l.Own(ctx, p)
	if err != nil {
		return a, nil, err
	}
	return l.entries(ctx, p.AID, a, n)
}

// entries leaves out what was booked since the account was read, so that the page
// is one of what the totals count.
func (l *Ledger) entries(ctx context.Context, aid string, a Account, n int) (Account, []Entry, error) {
	page, err := l.Store.Entries(ctx, aid, n)
	for len(page) > 0 && page[len(page)-1].N > a.Entries {
		page = page[:len(page)-1]
	}
	return a, page, err
}

// OwnRedemptions gives the newest page of what the signer redeemed.
func (l *Ledger) OwnRedemptions(ctx context.Context, p replay.Proof, n int) ([]Redemption, Sum, error) {
	if err := l.Store.Remember(ctx, p); err != nil {
		return nil, Sum{}, err
	}
	return l.Store.Redemptions(ctx, p.AID, n)
}

// Show is an account as an operator sees it.
func (l *Ledger) Show(ctx context.Context, aid string, n int) (Account, []Entry, error) {
	a, err := l.Store.Account(ctx, aid)
	if err != nil {
		return a, nil, err
	}
	return l.entries(ctx, aid, a, n)
}

// Grant gives credits to a member on an operator's word.
func (l *Ledger) Grant(ctx context.Context, aid string, amount uint64, by audit.By) (balance uint64, err error) {
	if err := payment.CheckAmount(amount); err != nil {
		return 0, err
	}
	at := l.now()
	i := Issue{Kind: Issued, AID: aid, Amount: amount, Reason: ReasonGrant, At: at}
	return l.Store.GrantMember(ctx, i, by.Did("credit.grant", aid, at).With("amount", amount), l.seal)
}

// Tell adds what the ledger is held to.
func (l *Ledger) Tell(limits *wire.Limits) {
	limits.Pages["ledger"] = wire.PageLimit{Default: DefaultPage, Most: MaxPage, Bytes: MaxPage << 10}
	limits.Pages["issuance"] = wire.PageLimit{Default: ChainPage, Most: ChainPage, Bytes: ChainPage * LinkBytes}
	limits.Pages["offers"] = wire.PageLimit{Default: DefaultOffers, Most: MaxOffers, Bytes: MaxOffers << 10}
}
