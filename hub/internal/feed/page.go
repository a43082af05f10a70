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

// more is a Reserve that asks again only for what is more than it has: one page
// after the other is read into the same memory.
func (take Reserve) more() Reserve {
	had := int64(0)
	return func(bytes int64) error {
		if bytes <= had {
			return nil
		}
		err := take(bytes - had)
		if err == nil {
			had = bytes
		}
		return err
	}
}

// maxSteps is how often one page looks on for an entry that is told. It is empty
// before the end only where a great many in a row are not: some peers take an empty
// page for the end.
const maxSteps = 50

// Cards is the page of a stream of cards behind a number. home is where this hub
// is reached: peers name it with the agents.
func (f *Feed) Cards(ctx context.Context, s Stream, after int64, home string, reserve Reserve) (page wire.FedCards, err error) {
	page, reserve = wire.FedCards{Cursor: after, Cards: []wire.FedCard{}}, reserve.more()
	for range maxSteps {
		span, err := f.next(ctx, s, page.Cursor, reserve)
		if err != nil || span.Until == page.Cursor {
			return page, err
		}
		entries, until, err := f.store.Cards(ctx, s, page.Cursor, span)
		if err != nil {
			return page, err
		}
		page.Cursor = until
		if page.Cards, err = tell(page.Cards, entries, s, home); err != nil || len(page.Cards) > 0 {
			return page, err
		}
	}
	return page, nil
}

// tell adds what is told of entries.
func tell(to []wire.FedCard, entries []Entry, s Stream, home string) ([]wire.FedCard, error) {
	for _, e := range entries {
		told, ok, err := e.told(s, home)
		if err != nil {
			return to, fmt.Errorf("tell of %s: %w", e.AID, err)
		}
		if ok {
			to = append(to, told)
		}
	}
	return to, nil
}

// Reviews is the page of reviews behind a number.
func (f *Feed) Reviews(ctx context.Context, after int64, reserve Reserve) (page wire.FedReviews, err error) {
	page, reserve = wire.FedReviews{Cursor: after, Reviews: []wire.FedReview{}}, reserve.more()
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

// next finds the next page and takes memory for it: as it is read, and in the answer,
// whose base64 is a third longer.
func (f *Feed) next(ctx context.Context, s Stream, after int64, reserve Reserve) (Span, error) {
	if !f.policy.DiscoveryOn() {
		return Span{}, errs.New(errs.Forbidden, "policy_refused", "this hub tells other hubs nothing of its agents")
	}
	span, err := f.store.Span(ctx, s, after)
	if err == nil && span.Bytes > 0 {
		err = reserve(3 * span.Bytes)
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
