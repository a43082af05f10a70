package voucher

import (
	"context"
	"net/url"
	"time"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Hub is the hub that this node has joined: it is asked for keys and addresses,
// which prove themselves.
type Hub struct {
	*hubclient.Client
	Pin hubclient.Pin
	Now func() time.Time
}

// Near reports whether the hub runs on this machine, and so may its agents.
func (h Hub) Near() bool {
	u, err := url.Parse(h.Pin.URL)
	return err == nil && here(u.Hostname())
}

// Verify checks that the hub which a voucher names has signed it.
func (h Hub) Verify(ctx context.Context, v Voucher) error {
	hub, err := v.Hub()
	if err != nil {
		return err
	}
	return h.under(ctx, hub, v.Verify, func(err error) error {
		return errs.New(errs.Forbidden, "voucher_forged", "the hub %s did not sign this voucher", hub).Because(err)
	})
}

// under checks a signature of a hub: under the history that was pinned, and where
// that does not do under the one of now. A history proves whose it is.
func (h Hub) under(ctx context.Context, hub string, verify func(*identity.History) error, forged func(error) error) error {
	if hub == h.Pin.AID {
		if known, err := identity.Replay(h.Pin.KEL); err == nil && verify(known) == nil {
			return nil
		}
	}
	kel, err := h.history(ctx, hub)
	if err != nil {
		return err
	}
	if err := verify(kel); err != nil {
		return forged(err)
	}
	return nil
}

// history asks for the key history of an agent, or of a hub.
func (h Hub) history(ctx context.Context, aid string) (*identity.History, error) {
	if aid == h.Pin.AID {
		pin, err := h.Meet(ctx, h.Pin)
		if err != nil {
			return nil, err
		}
		return identity.Replay(pin.KEL)
	}
	said, err := h.KEL(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return nil, errs.New(errs.Forbidden, "keys_unknown", "the hub of this node does not know %s, so nothing of it can be verified", aid)
	}
	if err != nil {
		return nil, err
	}
	history, err := identity.Replay(said.KEL)
	if err != nil || history.AID() != aid {
		return nil, errs.New(errs.BadGateway, "keys_not_proven", "the hub shows a key history that is not of %s", aid).Because(err)
	}
	return history, nil
}

// RedeemAt is where an agent takes vouchers, by the card that it signed for the
// gateway.
func (h Hub) RedeemAt(ctx context.Context, seller string) (string, error) {
	raw, err := h.SoldCard(ctx, seller)
	if err != nil {
		return "", nowhere(err)
	}
	history, err := h.history(ctx, seller)
	if err != nil {
		return "", nowhere(err)
	}
	c, err := adp.Admit(raw, history, 0, h.Now())
	if err != nil {
		return "", nowhere(err)
	}
	if c.Subject != seller || c.RedeemAt() == "" {
		return "", nowhere(nil)
	}
	return c.RedeemAt(), nil
}

// nowhere keeps the kind of a hub that could not be asked.
func nowhere(cause error) error {
	kind := errs.Forbidden
	if hubclient.Temporary(cause) {
		kind = errs.Unavailable
	}
	return errs.New(kind, "redeem_at_unknown",
		"the hub has no signed card of the seller that says where vouchers are taken; say it: --at URL").Because(cause)
}
