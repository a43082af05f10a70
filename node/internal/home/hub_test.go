package home

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// hub lists one node.
type hub struct {
	mu     sync.Mutex
	fails  error
	bodies []wire.Register
	gone   bool
	why    wire.Why
	told   []string // visibilities

	visibility string
	mute       bool          // it says of nobody who may learn of him
	deaf       error         // what it answers to a visibility
	slow       time.Duration // which it takes for that
	parted     func()        // runs while the node is being let go
	meet       func()        // runs while the node is being met

	supports payment.Supported
}

func (h *hub) set(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }

func (h *hub) Hub() string { return "https://hub.example.org" }

func (h *hub) Meet(_ context.Context, p hubclient.Pin) (hubclient.Pin, error) {
	h.mu.Lock()
	meet := h.meet
	h.mu.Unlock()
	if meet != nil {
		meet()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return p, h.fails
}

func (h *hub) Register(_ context.Context, body wire.Register) (wire.Registered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.bodies) == 0 || h.gone {
		h.visibility = "hub-local"
	}
	h.bodies, h.gone = append(h.bodies, body), false
	return wire.Registered{AID: body.AID, Status: "registered", KeysStatus: "ok", CardStatus: "absent"}, nil
}

func (h *hub) Deregister(context.Context) (wire.Deregistered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	if h.parted != nil {
		h.parted()
	}
	return wire.Deregistered{Undelivered: 3}, h.fails
}

func (h *hub) Agent(_ context.Context, aid string) (wire.AgentPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.fails != nil:
		return wire.AgentPage{}, h.fails
	case len(h.bodies) == 0 || h.gone:
		return wire.AgentPage{}, errs.New(errs.NotFound, "agent_unknown", "no such agent")
	}
	last := h.bodies[len(h.bodies)-1]
	shown := wire.Agent{AID: aid, Caps: last.Caps, Registered: true, Listed: h.why.Gate == ""}
	if !h.mute {
		shown.Visibility = h.visibility
	}
	return wire.AgentPage{Agent: shown}, nil
}

func (h *hub) SetVisibility(_ context.Context, v string) error {
	h.mu.Lock()
	slow := h.slow
	h.mu.Unlock()
	time.Sleep(slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.deaf != nil:
		return h.deaf
	case len(h.bodies) == 0 || h.gone:
		return errs.New(errs.NotFound, "agent_unknown", "no such agent")
	}
	h.told, h.visibility = append(h.told, v), v
	return nil
}

func (h *hub) Supported(context.Context) (payment.Supported, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.supports, h.fails
}

func (h *hub) Balance(context.Context) (wire.Balance, error) {
	return wire.Balance{Credits: 7}, h.fails
}

func (h *hub) Ledger(context.Context, int) (wire.LedgerPage, error) {
	return wire.LedgerPage{Entries: []wire.LedgerEntry{{Delta: 7, Reason: "granted"}}, Total: 1, Sum: 7}, h.fails
}

func (h *hub) words() string { h.mu.Lock(); defer h.mu.Unlock(); return strings.Join(h.told, " ") }

func (h *hub) Why(_ context.Context, capID string) (wire.Why, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why.Gate == "" {
		return h.why, errs.New(errs.NotFound, "no_such_route", "there is nothing here")
	}
	why := h.why
	why.Cap, why.Reason = capID, strings.TrimSpace(why.Reason+" "+capID)
	return why, h.fails
}

func (h *hub) body(i int) wire.Register { h.mu.Lock(); defer h.mu.Unlock(); return h.bodies[i] }

func (h *hub) count() int { h.mu.Lock(); defer h.mu.Unlock(); return len(h.bodies) }
