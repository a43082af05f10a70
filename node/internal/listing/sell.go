package listing

import (
	"maps"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/wire"
)

// saleFile keeps the last card of prices that was signed for the gateway.
const saleFile = "gateway-card.json"

// saleRefused is the hub's word for one that does not do, as when a node was
// restored from a backup: the hub knows a later one.
const saleRefused = "card_refused"

// saleRenewed is how old that card becomes: a hub takes one for a week.
const saleRenewed = 2 * 24 * time.Hour

// sell adds the card in which this node consents to be sold through the hub's
// gateway, and for which prices (wire 2, H.6). A node that never sold there sends
// none; one that no longer does sends one that names no price.
func (p Publisher) sell(body *wire.Register, l Listing) error {
	offer := adp.Offer{Name: body.Name, Prices: map[string]uint64{}}
	for _, id := range l.Sold {
		if price, listed := l.Prices.Prices[id]; listed {
			offer.Prices[id] = price
		}
	}
	if len(offer.Prices) > 0 {
		offer.Capabilities, offer.RedeemAt = slices.Sorted(maps.Keys(offer.Prices)), l.RedeemAt
	}
	last, raw := p.lastSale()
	switch {
	case last == nil && len(offer.Prices) == 0:
		return nil
	case last != nil && !p.resell && p.says(last, offer):
		body.Card = raw
		return nil
	}
	var seq uint64
	if last != nil {
		seq = last.Seq
	}
	signed, err := offer.Sign(p.Keys.Signer(), seq, p.Now())
	if err != nil {
		return err
	}
	body.Card = signed
	return p.Dir.Write(saleFile, signed)
}

// lastSale is nil when there is none that can be read. Then the next sequence comes
// from the clock.
func (p Publisher) lastSale() (*adp.Card, []byte) {
	raw, err := p.Dir.Read(saleFile)
	if err != nil {
		return nil, nil
	}
	c, err := adp.Read(raw)
	if err != nil {
		return nil, nil
	}
	return c, raw
}

// says reports whether a card makes the offer, by the present key and not too long
// ago.
func (p Publisher) says(c *adp.Card, o adp.Offer) bool {
	age := p.Now().Sub(time.Unix(int64(c.IssuedAt), 0))
	return c.Name == o.Name && c.RedeemAt() == o.RedeemAt && maps.Equal(c.Prices(), o.Prices) &&
		c.Envelope.KeySeq == p.Keys.Signer().Seq() && age >= 0 && age < saleRenewed
}
