package feed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Switch says whether this hub tells its peers anything at all.
type Switch interface{ DiscoveryOn() bool }

// Feed serves the streams.
type Feed struct {
	store  Store
	policy Switch
}

// New makes a feed.
func New(store Store, policy Switch) *Feed { return &Feed{store: store, policy: policy} }

// Reserve takes memory before something is read into it.
type Reserve func(bytes int64) error

// Cards is the page of a stream of cards behind a number. home is where this hub
// is reached: peers name it with the agents.
func (f *Feed) Cards(ctx context.Context, s Stream, after int64, home string, reserve Reserve) (page wire.FedCards, err error) {
	page = wire.FedCards{Cursor: after, Cards: []wire.FedCard{}}
	span, err := f.next(ctx, s, after, reserve)
	if err != nil || span.Until == after {
		return page, err
	}
	entries, until, err := f.store.Cards(ctx, s, after, span)
	if err != nil {
		return page, err
	}
	page.Cursor = until
	for _, e := range entries {
		told, ok, err := e.told(s, home)
		if err != nil {
			return page, fmt.Errorf("tell of %s: %w", e.AID, err)
		}
		if ok {
			page.Cards = append(page.Cards, told)
		}
	}
	return page, nil
}

// maxSteps is how often one page of reviews looks on for a review that is told.
const maxSteps = 50

// Reviews is the page of reviews behind a number. It is empty before the end only
// where a great many in a row are not told: some peers rest after an empty page.
func (f *Feed) Reviews(ctx context.Context, after int64, reserve Reserve) (page wire.FedReviews, err error) {
	page = wire.FedReviews{Cursor: after, Reviews: []wire.FedReview{}}
	for range maxSteps {
		span, err := f.next(ctx, Reviews, page.Cursor, reserve)
		if err != nil || span.Until == page.Cursor {
			return page, err
		}
		told, until, err := f.store.Reviews(ctx, page.Cursor, span)
		if err != nil {
			return page, err
		}
		page.Cursor = until
		for _, r := range told {
			page.Reviews = append(page.Reviews, wire.FedReview{
				Receipt: r.Receipt, Review: r.Word, ProviderKEL: r.ProviderKEL, ReviewerKEL: r.ReviewerKEL, FedSeq: r.Seq})
		}
		if len(told) > 0 {
			break
		}
	}
	return page, nil
}

// next finds the next page and takes memory for it twice: as it is read and in the
// answer.
func (f *Feed) next(ctx context.Context, s Stream, after int64, reserve Reserve) (Span, error) {
	if !f.policy.DiscoveryOn() {
		return Span{}, errs.New(errs.Forbidden, "policy_refused", "this hub tells other hubs nothing of its agents")
	}
	span, err := f.store.Span(ctx, s, after)
	if err == nil && span.Bytes > 0 {
		err = reserve(2 * span.Bytes)
	}
	return span, err
}

// told is the entry as a peer reads it, nothing where it is told nothing just now.
func (e Entry) told(s Stream, home string) (c wire.FedCard, ok bool, err error) {
	c = wire.FedCard{Card: e.Card, KEL: e.KEL, Keys: e.Keyset, Home: home, FedSeq: e.Seq}
	switch {
	case e.Withdrawn != "":
		c.Format = wire.FormatWithdrawal
		c.Card, err = json.Marshal(wire.NewWithdrawal(e.AID, e.Withdrawn, e.At))
		return c, s == Cards, err
	case s == Cards:
		c.Format = wire.FormatA2ACard
	}
	return c, e.Card != nil, nil
}
