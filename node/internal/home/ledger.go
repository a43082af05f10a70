package home

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/node/internal/listing"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/payment"
)

// Networks are those that this node can be paid on: its hub's own ledger first,
// then those its hub clears with. There are none before the hub was asked.
func (h *Home) Networks() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.networks)
}

// askLedger asks the hub on what it settles, where this node has anything to
// sell. A hub that cannot be asked leaves things as they were.
func (h *Home) askLedger(ctx context.Context) {
	if !till.Built || !h.sells() {
		return
	}
	supported, err := h.Hub.Supported(ctx)
	if err != nil {
		h.Log.Warn("home: the hub cannot be asked for its ledger", "error", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.networks = NetworksOf(supported, h.Pin.AID)
}

// sells reports whether anything served has a price.
func (h *Home) sells() bool {
	for _, id := range h.Registry.Served() {
		if p, found := h.Registry.Resolve(id); found {
			if _, priced := provider.PriceOf(p, id); priced {
				return true
			}
		}
	}
	return false
}

// NetworksOf puts a hub's own network first. A hub that does not settle on it keeps
// no ledger.
func NetworksOf(s payment.Supported, hub string) []string {
	own := payment.Network(hub)
	networks := []string{own}
	found := false
	for _, k := range s.Kinds {
		switch {
		case k.Scheme != payment.Scheme || k.X402Version != payment.X402Version:
		case k.Network == own:
			found = true
		case !slices.Contains(networks, k.Network):
			networks = append(networks, k.Network)
		}
	}
	if !found {
		return nil
	}
	return networks
}

// LedgerHub is the hub whose ledger keeps this node's account, and its key history.
func (h *Home) LedgerHub() (hub string, kel []byte) {
	p := h.pin()
	return p.AID, p.KEL
}

// RefreshHub asks the hub for its key history anew.
func (h *Home) RefreshHub(ctx context.Context) error {
	pin, err := h.meet(ctx)
	if err != nil {
		return err
	}
	return h.keepPin(pin)
}

// ExtendedCard signs the card for who asks: with what only agents on a list may
// call, or for everybody. Nil when it would say nothing beyond the public one.
func (h *Home) ExtendedCard(list bool) ([]byte, error) {
	if h.Hub == nil {
		return nil, nil
	}
	offer := h.Offer()
	more := offer
	if list {
		more = offer.ForListed(h.Registry)
	}
	return listing.Publisher{Dir: h.Dir, Keys: h.Keys, Pin: h.pin(), Now: h.Now}.Extended(offer, more)
}
