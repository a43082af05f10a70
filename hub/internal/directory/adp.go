package directory

import (
	"bytes"
	"fmt"
	"time"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// vettedADP is a submitted older card after its verification (wire 2, H.6).
type vettedADP struct {
	raw    []byte // empty when absent
	seq    uint64
	from   time.Time
	prices map[string]uint64
}

// vetADP verifies an older card. Unlike a network card, a bad one fails the
// registration, as nodes of the first generation expect.
func (d *Directory) vetADP(app Application, now time.Time) (vettedADP, error) {
	if len(app.ADP) == 0 {
		return vettedADP{}, nil
	}
	h, err := d.replay(app.KEL)
	if err != nil {
		return vettedADP{}, fmt.Errorf("replay a verified history: %w", err)
	}
	c, err := adp.Admit(app.ADP, h, 0, now)
	switch {
	case err != nil:
		return vettedADP{}, errADP("%v", err)
	case c.Subject != app.AID:
		return vettedADP{}, errADP("%s: the card is about another agent", adp.Malformed)
	}
	from := time.Unix(int64(c.NotBefore), 0).UTC()
	if from.After(now) {
		from = now
	}
	return vettedADP{raw: app.ADP, seq: c.Seq, from: from, prices: sold(c)}, nil
}

// decide holds the card to the sequence on record. The stored bytes once more
// are no news.
func (v vettedADP) decide(rec Record) (*ADPChange, error) {
	switch {
	case len(v.raw) == 0 || bytes.Equal(v.raw, rec.ADP):
		return nil, nil
	case rec.ADPSeq != nil && v.seq <= uint64(*rec.ADPSeq):
		return nil, errADP("%s: card sequence %d is not newer than %d on record", adp.StaleSeq, v.seq, *rec.ADPSeq)
	}
	return &ADPChange{Raw: v.raw, Seq: int64(v.seq), From: v.from, Prices: v.prices}, nil
}

// lapses reports whether a history that has grown ends what the older card on record
// says: keys can be retired as of before it was signed. Nobody can buy by it then.
func (d *Directory) lapses(kel []byte, rec Record, now time.Time) (bool, error) {
	if len(rec.ADP) == 0 || bytes.Equal(kel, rec.KEL) {
		return false, nil
	}
	h, err := d.replay(kel)
	if err != nil {
		return false, fmt.Errorf("replay a verified history: %w", err)
	}
	_, err = adp.Admit(rec.ADP, h, 0, now)
	return err != nil, nil
}

// sold is what a card sells through the gateway, as far as it can be asked for.
func sold(c *adp.Card) map[string]uint64 {
	prices := map[string]uint64{}
	for id, price := range c.Prices() {
		if c.RedeemAt() != "" && capability.Keepable(id) && len(prices) < wire.MaxCaps {
			prices[id] = price
		}
	}
	return prices
}

func errADP(format string, args ...any) error {
	return errs.New(errs.Invalid, "card_refused", format, args...).In("card")
}
