package provider

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/errs"
)

// Registry is the node's table of providers. The zero value is empty and ready.
type Registry struct {
	mu   sync.RWMutex
	byID map[string]Provider // capability id → its provider
	all  []Provider
}

// Register adds a provider with all its ids, or with none of them when one is
// badly spelt or taken: a provider that is half there would be found by some of
// its names and missed by others.
func (r *Registry) Register(p Provider) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := p.Capabilities()
	if err := r.refuse(p, ids); err != nil {
		return fmt.Errorf("register provider %s: %w", p.ID(), err)
	}
	if r.byID == nil {
		r.byID = map[string]Provider{}
	}
	for _, id := range ids {
		r.byID[id] = p
	}
	r.all = append(r.all, p)
	return nil
}

func (r *Registry) refuse(p Provider, ids []string) error {
	mine := map[string]bool{}
	for _, id := range ids {
		if err := capability.CheckID(id); err != nil {
			return err
		}
		if other, taken := r.byID[id]; taken {
			return conflict(id, "is already answered by provider %s", other.ID())
		}
		if mine[id] {
			return conflict(id, "is named twice")
		}
		mine[id] = true
	}
	for _, other := range r.all {
		if other.ID() == p.ID() {
			return errs.New(errs.Conflict, "provider_conflict", "there is a provider of this name already")
		}
	}
	return nil
}

func conflict(id, format string, args ...any) error {
	return errs.New(errs.Conflict, "capability_conflict", "capability %s "+format, append([]any{id}, args...)...)
}

// Resolve finds who answers an id: the provider of exactly that id, else the
// one of its nearest parent along the dots.
func (r *Registry) Resolve(capID string) (Provider, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if p, ok := r.byID[capID]; ok {
		return p, true
	}
	for parent := range capability.Parents(capID) {
		if p, ok := r.byID[parent]; ok {
			return p, true
		}
	}
	return nil, false
}

// Served are the ids the providers name, sorted.
func (r *Registry) Served() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.byID))
}

// Providers are the registered ones in their order.
func (r *Registry) Providers() []Provider {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.all)
}
