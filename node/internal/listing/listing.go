// Package listing is what a node says of itself to its hub: the capabilities a
// stranger may call now, the operator's own tags, the signed card and the keys
// to seal to.
//
// The list is computed at every registration from what is really served and
// really public. It is kept nowhere, so what is no longer served cannot linger.
package listing

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/wire"
)

// Listing is the node's offer at one moment.
type Listing struct {
	Name    string
	Profile config.Profile
	Skills  []card.Skill // what a stranger may ask for, sorted by id
	Tags    []string     // the operator's words, sorted

	// Prices are those of the skills that have one. They stand on the extended card,
	// and on the public one only where the operator shows them to everybody.
	Prices       card.PriceList
	PublicPrices bool

	// Sold are the skills that the hub's gateway may sell, RedeemAt where it sends
	// who bought one.
	Sold     []string
	RedeemAt string
}

// Of computes the offer of a node that is paid on a network. Without one a
// capability that has a price is left out: a call of it would be answered as
// unavailable.
func Of(c *config.Config, r *provider.Registry, network string) Listing {
	l := Listing{
		Name: c.Name, Profile: c.Profile, Tags: slices.Sorted(slices.Values(c.Tags)),
		Prices: card.PriceList{Network: network, Prices: map[string]uint64{}}, PublicPrices: c.Payments.PublicPrices,
	}
	for _, public := range c.Inbound.PublicCapabilities {
		if p, served := r.Resolve(public.ID); served {
			l.add(p, public.ID)
		}
	}
	if c.Modules.X402 != nil {
		l.Sold, l.RedeemAt = c.Sold(), c.Modules.X402.URL
	}
	if c.Inbound.Policy == config.Open && !slices.Contains(l.Public(), card.ChatSkill().ID) {
		l.Skills = append(l.Skills, card.ChatSkill())
	}
	slices.SortFunc(l.Skills, func(a, b card.Skill) int { return strings.Compare(a.ID, b.ID) })
	return l
}

// ForListed adds what only agents on a list may call: whatever is served without
// being public.
func (l Listing) ForListed(r *provider.Registry) Listing {
	l.Skills, l.Prices.Prices = slices.Clone(l.Skills), maps.Clone(l.Prices.Prices)
	public := l.Public()
	for _, id := range r.Served() {
		if p, served := r.Resolve(id); served && !slices.Contains(public, id) {
			l.add(p, id)
		}
	}
	return l
}

// add lists a capability, unless it has a price that cannot be paid.
func (l *Listing) add(p provider.Provider, capID string) {
	price, priced := provider.PriceOf(p, capID)
	if priced && l.Prices.Network == "" {
		return
	}
	if priced {
		l.Prices.Prices[capID] = price
	}
	l.Skills = append(l.Skills, describe(p, capID))
}

// extensions say that there are prices, and to everybody which, where the operator
// wants that.
func (l Listing) extensions() (all []card.Extension) {
	if len(l.Prices.Prices) == 0 {
		return nil
	}
	all = []card.Extension{card.PaymentExtension(len(l.Prices.Prices) == len(l.Skills))}
	if l.PublicPrices {
		all = append(all, l.Prices.Extension(card.ExtPricing))
	}
	return all
}

// describe takes the provider's words; the id is the one that was made public.
func describe(p provider.Provider, capID string) card.Skill {
	s := p.Describe(capID)
	s.ID = capID
	return s
}

// Public are the ids of the skills.
func (l Listing) Public() []string {
	ids := make([]string, 0, len(l.Skills))
	for _, s := range l.Skills {
		ids = append(ids, s.ID)
	}
	return ids
}

// Shown is all that the hub should find the node by, sorted.
func (l Listing) Shown() []string {
	ids := append(l.Public(), l.Tags...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// name is the one shown where the operator gave none.
func (l Listing) name(aid string) string { return cmp.Or(l.Name, card.DefaultName(aid)) }

// Compare says what the hub fails to list, and what it lists that is not
// offered. Both are nil when it tells the truth.
func (l Listing) Compare(listed wire.Agent) (missing, surplus []string) {
	shown := l.Shown()
	return without(shown, listed.Caps), without(listed.Caps, shown)
}

// without is what of a is not in b, sorted.
func without(a, b []string) []string {
	rest := slices.DeleteFunc(slices.Clone(a), func(id string) bool { return slices.Contains(b, id) })
	slices.Sort(rest)
	return slices.Compact(rest)
}
