package home

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/errs"
)

// hubPatience bounds what a status asks of the hub, and a provider's health.
const hubPatience = 2 * time.Second

// Describe fills in what the node serves, what its hub lists, and the
// difference.
func (h *Home) Describe(ctx context.Context, s *node.Status) {
	c, offer := h.Present(), h.Offer()
	s.AID, s.Name, s.Policy, s.Visibility = h.Keys.AID(), c.Name, string(c.Inbound.Policy), string(c.Visibility)
	s.Served, s.Public, s.Tags = list(h.Registry.Served()), list(offer.Public()), list(offer.Tags)
	s.Providers = health(ctx, h.Registry.Providers())
	h.mu.Lock()
	s.Hub, s.Registered = h.Pin.URL, !h.at.IsZero() && h.err == nil && !h.left
	if !h.at.IsZero() {
		at := h.at
		s.LastRegistered = &at
	}
	if h.report.CardProblem != nil {
		s.CardProblem = h.report.CardProblem.Error()
	}
	if h.err != nil {
		s.RegisterError = h.err.Error()
	}
	if h.left {
		s.RegisterError = "this node left its hub; anet hub-register brings it back"
	}
	h.mu.Unlock()
	h.compare(ctx, s)
}

// compare asks the hub what it lists.
func (h *Home) compare(ctx context.Context, s *node.Status) {
	if h.Hub == nil {
		s.HubError = notJoined().Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	page, err := h.Hub.Agent(ctx, s.AID)
	if err != nil && errs.KindOf(err) != errs.NotFound {
		s.HubError = err.Error()
		return
	}
	offered := len(page.Agent.Caps)
	if err != nil || !page.Agent.Listed {
		page.Agent.Caps = nil // its page tells them, and no list does
	}
	s.Listed, s.HubVisibility = list(page.Agent.Caps), page.Agent.Visibility
	s.Missing, s.Surplus = h.Offer().Compare(page.Agent)
	if len(s.Missing) > 0 || offered > len(s.Listed) {
		s.Unlisted = h.askWhy(ctx, s.Missing)
	}
}

// askWhy has the hub say what keeps its lists from showing the node, or the first
// id that is missing there. Empty where it cannot tell, as other hubs cannot.
func (h *Home) askWhy(ctx context.Context, missing []string) string {
	capID := ""
	if len(missing) > 0 {
		capID = missing[0]
	}
	why, err := h.Hub.Why(ctx, capID)
	switch {
	case errs.KindOf(err) == errs.Forbidden:
		return err.Error()
	case err != nil || why.Listed:
		return ""
	case why.Hint == "":
		return why.Reason
	}
	return why.Reason + "; " + why.Hint
}

// list keeps "nothing" apart from "not known" in JSON.
func list(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}

func health(ctx context.Context, all []provider.Provider) []node.Health {
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	out := make([]node.Health, 0, len(all))
	for _, p := range all {
		one := node.Health{ID: p.ID()}
		if err := p.Health(ctx); err != nil {
			one.Error = err.Error()
		}
		out = append(out, one)
	}
	return out
}
