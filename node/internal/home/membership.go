package home

import (
	"context"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

// Register lists the node now.
func (h *Home) Register(ctx context.Context, name, invite string) (node.Registration, error) {
	if h.Hub == nil {
		return node.Registration{}, notJoined()
	}
	if name != "" {
		err := h.change(func(c *config.Config) { c.Name = name }, config.SetName(name))
		if err != nil {
			return node.Registration{}, err
		}
	}
	if err := h.attempt(ctx, invite); err != nil {
		return node.Registration{}, err
	}
	return h.registration(), h.setLeft(false)
}

func (h *Home) registration() node.Registration {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := node.Registration{
		AID: h.Keys.AID(), Hub: h.Pin.URL, At: h.at, Listed: h.report.Listed,
		KeysStatus: h.report.KeysStatus, KeysError: h.report.KeysError,
		CardStatus: h.report.CardStatus, CardError: h.report.CardError,
		Added: h.report.Added, Removed: h.report.Removed, Unchanged: h.report.Unchanged, Ignored: h.report.IgnoredCaps,
		Visibility: string(h.Config.Visibility),
	}
	if h.untold != nil {
		r.VisibilityError = h.untold.Error()
	}
	if r.CardError == "" && h.report.CardProblem != nil {
		r.CardError = h.report.CardProblem.Error()
	}
	return r
}

// Leave takes the node off its hub. It does not come back by itself, a restart
// included.
func (h *Home) Leave(ctx context.Context) (node.Left, error) {
	if h.Hub == nil {
		return node.Left{}, notJoined()
	}
	h.registering.Lock()
	defer h.registering.Unlock()
	answer, err := h.Hub.Deregister(ctx)
	if err != nil && errs.KindOf(err) != errs.Unauthorized { // not known there: what was asked for
		return node.Left{}, err
	}
	left := node.Left{Hub: h.Hub.Hub(), Undelivered: int(answer.Undelivered), Warning: answer.Warning}
	return left, h.setLeft(true)
}

// SetProfile changes the operator's words and registers, unless the node is at
// no hub now.
func (h *Home) SetProfile(ctx context.Context, p node.Profile) (node.Registration, error) {
	err := h.change(
		func(c *config.Config) { c.Profile = config.Profile(p) },
		config.SetSummary(p.Summary), config.SetReadme(p.Readme), config.SetPricing(p.Pricing))
	if err != nil {
		return node.Registration{}, err
	}
	if h.Hub == nil || h.away() {
		return node.Registration{AID: h.Keys.AID()}, nil
	}
	return h.Register(ctx, "", "")
}

func (h *Home) away() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.left
}

// Identity tells who the node is.
func (h *Home) Identity(context.Context) (node.Identity, error) {
	s := h.Keys.Signer()
	return node.Identity{AID: s.AID(), KeySeq: s.Seq(), KEL: s.KEL()}, nil
}

// RotateIdentity moves to the next key. The hub learns of it with the
// registration that follows, and what else the node has to say to it waits for
// that: signed by the new key, it would be refused.
func (h *Home) RotateIdentity(ctx context.Context) (node.Identity, error) {
	if err := h.rotate(); err != nil {
		return node.Identity{}, err
	}
	h.Poke()
	return h.Identity(ctx)
}

// rotate waits for the registration under way: it tells of the old key.
func (h *Home) rotate() error {
	h.registering.Lock()
	defer h.registering.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = make(chan struct{}) // before anybody can sign by the new key
	err := h.Keys.Rotate(h.Now())
	if err != nil {
		h.settled()
	}
	return err
}

// Policy is what becomes of a delegation of an agent on no list.
func (h *Home) Policy(context.Context) (string, error) { return string(h.PolicyNow()), nil }

// PolicyNow is the same for who decides.
func (h *Home) PolicyNow() config.Policy { return h.Present().Inbound.Policy }

// SetPolicy writes the policy down and applies it.
func (h *Home) SetPolicy(_ context.Context, policy string) error {
	p := config.Policy(policy)
	if p != config.Closed && p != config.Open {
		return errs.New(errs.Invalid, "policy_unknown", "%.40q is no policy of this build; choose closed or open", policy).In("policy")
	}
	if err := h.change(func(c *config.Config) { c.Inbound.Policy = p }, config.SetPolicy(p)); err != nil {
		return err
	}
	h.Poke() // an open node is listed with a chat
	return nil
}
