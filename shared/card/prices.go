package card

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
)

// Asset is the unit of every price.
const Asset = "credit"

// PriceList is what a card says its skills cost; skills not listed are free. It
// is shown to people and bounds what is paid without asking, but it sells
// nothing: what a call costs is in the quote of its task.
type PriceList struct {
	Network string // hub:<ledger AID>
	Prices  map[string]uint64
}

type priceParams struct {
	Network string       `json:"network"`
	Asset   string       `json:"asset,omitzero"`
	Prices  []skillPrice `json:"prices"`
}

type skillPrice struct {
	SkillID string `json:"skillId"`
	Amount  string `json:"amount"`
}

// Prices reads the price list of a card: the extended card's where it has one,
// else the public one's. Without either it is nil. A list that cannot be read is
// an error, for a price taken for none would be a call taken for free.
func (c *Card) Prices() (*PriceList, error) {
	for _, uri := range []string{ExtPrice, ExtPricing} {
		if e, ok := c.Extension(uri); ok {
			return e.prices()
		}
	}
	return nil, nil
}

func (e Extension) prices() (*PriceList, error) {
	var p priceParams
	if err := json.Unmarshal(e.Params, &p); err != nil {
		return nil, Refuse(InvalidCard, "the price list is no valid one").Because(err)
	}
	if p.Asset != "" && p.Asset != Asset {
		return nil, Refuse(InvalidCard, "the price list counts in %q, not in credits", clip(p.Asset))
	}
	list := &PriceList{Network: p.Network, Prices: make(map[string]uint64, len(p.Prices))}
	for _, one := range p.Prices {
		amount, ok := decimal(one.Amount)
		if _, twice := list.Prices[one.SkillID]; !ok || amount == 0 || twice {
			return nil, Refuse(InvalidCard, "the price of %q is no single amount of whole credits", clip(one.SkillID))
		}
		list.Prices[one.SkillID] = uint64(amount)
	}
	return list, nil
}

// Extension is the list as an extension: ExtPrice on an extended card, or
// ExtPricing for the operator who shows prices to everybody.
func (l PriceList) Extension(uri string) Extension {
	p := priceParams{Network: l.Network}
	if uri == ExtPrice {
		p.Asset = Asset
	}
	for _, id := range slices.Sorted(maps.Keys(l.Prices)) {
		p.Prices = append(p.Prices, skillPrice{id, strconv.FormatUint(l.Prices[id], 10)})
	}
	return Extension{URI: uri, Params: mustJSON(p)}
}

// PaymentExtension declares that skills cost something; required only when every
// listed skill does, since a client that cannot pay is then of no use.
func PaymentExtension(everySkill bool) Extension {
	return Extension{URI: ExtX402, Required: everySkill}
}

// Payment reports whether the card declares payment, and whether it demands it.
func (c *Card) Payment() (declared, required bool) {
	e, ok := c.Extension(ExtX402)
	return ok, e.Required
}
