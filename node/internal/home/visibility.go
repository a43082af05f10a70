package home

import (
	"context"
	"fmt"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/errs"
)

// Visibility is who beyond the hub may learn of the node, as it is configured.
func (h *Home) Visibility(context.Context) (string, error) {
	return string(h.Present().Visibility), nil
}

// SetVisibility writes it down and tells the hub. What is written down is told
// with every registration until the hub has it.
func (h *Home) SetVisibility(ctx context.Context, visibility string) error {
	v := config.Visibility(visibility)
	if !v.Known() {
		return errs.New(errs.Invalid, "visibility_unknown",
			"%.40q is no visibility; choose hub-local, federated or public", visibility).In("visibility")
	}
	if err := h.change(func(c *config.Config) { c.Visibility = v }, config.SetVisibility(v)); err != nil {
		return err
	}
	if h.Hub == nil || h.away() {
		return nil
	}
	h.registering.Lock()
	defer h.registering.Unlock()
	err := h.tell(ctx)
	switch {
	case err == nil:
		return nil
	case errs.KindOf(err) == errs.NotFound: // not registered: it is told then
		return nil
	}
	h.Poke()
	return fmt.Errorf("it is written down, and told to the hub as soon as that can be: %w", err)
}

// tell states the visibility at the hub. One that says it has it already is told
// nothing: a node that starts again costs its hub a look. A hub drops it with the
// registration, so this follows every one. The caller holds the turn to register.
func (h *Home) tell(ctx context.Context) error {
	want := string(h.Present().Visibility)
	page, err := h.Hub.Agent(ctx, h.Keys.AID())
	if err == nil && page.Agent.Visibility != want {
		err = h.Hub.SetVisibility(ctx, want)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && h.untold == nil {
		h.Log.Warn("home: the hub was not told the visibility", "visibility", want, "error", err)
	}
	h.untold = err
	return err
}

// whyUntold is why the hub was not told at the last attempt, nil where it was.
func (h *Home) whyUntold() error { h.mu.Lock(); defer h.mu.Unlock(); return h.untold }
