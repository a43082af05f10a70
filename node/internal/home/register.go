package home

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/listing"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/shared/errs"
)

func (h *Home) answerPoke() {
	select {
	case <-h.poke:
	default:
	}
}

// retry paces registrations that fail. A hub that names a time is obeyed.
var retry = mailbox.Backoff{Base: 2 * time.Second, Cap: 2 * time.Minute}

// Run keeps the node registered until ctx ends: at the start, when poked, when
// encryption keys change, and again after a failure.
func (h *Home) Run(ctx context.Context) error {
	if h.Hub == nil {
		<-ctx.Done()
		return nil
	}
	failures := 0
	for h.Member(ctx) == nil {
		h.answerPoke() // by the registration that follows
		err := h.renew(ctx)
		wait := h.nextKeys()
		if err != nil && ctx.Err() == nil {
			failures++
			wait = min(wait, h.delay(failures, err))
		} else {
			failures = 0
		}
		if !h.rest(ctx, wait, failures == 0) {
			return nil
		}
	}
	return nil
}

func (h *Home) delay(failures int, err error) time.Duration {
	d := retry.Delay(failures)
	if e := errs.As(err); e != nil && e.RetryAfter > 0 {
		d += e.RetryAfter
	}
	return d
}

// nextKeys is the time until the encryption keys want attention.
func (h *Home) nextKeys() time.Duration {
	return max(h.Keys.Due().Sub(h.Now()), time.Second)
}

// look bounds a sleep: a clock that was set must not let the keys run out.
const look = 10 * time.Minute

// rest waits for the time, or a poke where one may cut the wait short: a hub
// that is failing is not asked faster because somebody pokes.
func (h *Home) rest(ctx context.Context, d time.Duration, pokable bool) bool {
	poke := h.poke
	if !pokable {
		poke = nil
	}
	for ; d > 0; d = min(d-look, h.nextKeys()) {
		t := time.NewTimer(min(d, look))
		select {
		case <-ctx.Done():
			t.Stop()
			return false
		case <-t.C:
		case <-poke:
			t.Stop()
			return true
		}
	}
	return true
}

// renew is a registration nobody asked for. A node that left while it waited for
// its turn stays away.
func (h *Home) renew(ctx context.Context) error {
	h.registering.Lock()
	defer h.registering.Unlock()
	if h.away() {
		return nil
	}
	if err := h.once(ctx, ""); err != nil {
		return err
	}
	return h.whyUntold()
}

// attempt is a registration somebody waits for; it brings back a node that left.
// A hub that took it and could not be told more is told later.
func (h *Home) attempt(ctx context.Context, invite string) error {
	h.registering.Lock()
	defer h.registering.Unlock()
	if err := h.once(ctx, invite); err != nil {
		return err
	}
	if h.whyUntold() != nil {
		h.Poke()
	}
	return nil
}

// once registers and notes how it went. Mail may be asked for as soon as the hub
// knows the node; that it is registered is said once the visibility was told, too,
// or could not be: whoever waits for it finds no difference.
func (h *Home) once(ctx context.Context, invite string) error {
	report, err := h.register(ctx, invite)
	h.mu.Lock()
	h.settled()
	h.mu.Unlock()
	if err == nil {
		soon, cancel := context.WithTimeout(ctx, settleWait)
		defer cancel()
		_ = h.tell(soon) // which keeps why it could not
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		if h.err == nil || h.err.Error() != err.Error() {
			h.Log.Warn("home: not registered", "error", err)
		}
		h.err = err
		return err
	}
	h.Log.Info("home: registered", "hub", h.Pin.URL, "capabilities", len(report.Listed), "keys", report.KeysStatus, "card", report.CardStatus)
	if report.CardProblem != nil && h.report.CardProblem == nil {
		h.Log.Warn("home: listed without a card", "error", report.CardProblem)
	}
	h.report, h.at, h.err = report, h.Now(), nil
	return nil
}

// register meets the hub first: nothing is signed for another than the pinned
// one.
func (h *Home) register(ctx context.Context, invite string) (listing.Report, error) {
	if _, err := h.Keys.Advance(h.Now()); err != nil {
		return listing.Report{}, err
	}
	pin, err := h.meet(ctx)
	if err != nil {
		return listing.Report{}, err
	}
	if err := h.keepPin(pin); err != nil {
		return listing.Report{}, err
	}
	h.askLedger(ctx)
	p := listing.Publisher{Dir: h.Dir, Keys: h.Keys, Pin: pin, Now: h.Now}
	return p.Register(ctx, h.Hub, h.Offer(), invite)
}

// meet asks who answers at the hub's URL, and remembers when that is another. A
// hub that cannot be asked leaves things as they were.
func (h *Home) meet(ctx context.Context) (hubclient.Pin, error) {
	pin, err := h.Hub.Meet(ctx, h.pin())
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.other = nil
	case hubclient.AnotherHub(err):
		h.other = err
	}
	return pin, err
}

// Offer is what the node would list now.
func (h *Home) Offer() listing.Listing { return listing.Of(h.Present(), h.Registry, h.network()) }

// network is the ledger that this node is paid on first, empty for none.
func (h *Home) network() string {
	if n := h.Networks(); len(n) > 0 {
		return n[0]
	}
	return ""
}

func (h *Home) pin() hubclient.Pin {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Pin
}

func (h *Home) keepPin(p hubclient.Pin) error {
	old := h.pin()
	if string(p.KEL) == string(old.KEL) && p.PublicURL == old.PublicURL {
		return nil
	}
	if err := p.Store(h.Dir); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Pin = p
	return nil
}
