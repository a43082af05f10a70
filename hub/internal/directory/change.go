package directory

import (
	"context"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
)

// SetProfile replaces what an agent says of itself, all three parts.
func (d *Directory) SetProfile(ctx context.Context, p replay.Proof, profile Profile) error {
	if err := profile.Check(); err != nil {
		return err
	}
	return d.store.Update(ctx, p, func(a *Agent) { a.Profile = profile })
}

// SetVisibility says who beyond this hub may learn of the agent.
func (d *Directory) SetVisibility(ctx context.Context, p replay.Proof, v Visibility) error {
	return d.store.Update(ctx, p, func(a *Agent) { a.Visibility = v })
}

// Deregister removes the registration. The key history stays, so that the AID
// can only come back with it or an extension of it.
func (d *Directory) Deregister(ctx context.Context, p replay.Proof) (undelivered int64, err error) {
	undelivered, err = d.store.Deregister(ctx, p)
	if err == nil {
		d.recent.forget(p.AID)
		d.life.Forget(p.AID)
	}
	return undelivered, err
}

// maxAddress is the longest address of direct connections, in bytes.
const maxAddress = 256

// SetAddress publishes where the agent can be reached directly, "" nowhere.
func (d *Directory) SetAddress(ctx context.Context, p replay.Proof, addr string) (Address, error) {
	if err := checkText("addr", addr, maxAddress); err != nil {
		return Address{}, err
	}
	now := d.now()
	return Address{AID: p.AID, Addr: addr, At: now}, d.store.PutAddress(ctx, p, addr, now)
}

// Bounds of GET /p2p/peers, and how many addresses are read at once.
const (
	maxAddresses = 10_000
	addressStep  = 256
)

// AddressBytes is what an address takes at most: as it is read, and in the answer,
// which may write each of its bytes as six.
const AddressBytes = 9 << 8

// Addresses lists what agents published that lists show.
func (d *Directory) Addresses(ctx context.Context, reserve Reserve) (all []Address, err error) {
	for after := ""; len(all) < maxAddresses; after = all[len(all)-1].AID {
		n := min(addressStep, maxAddresses-len(all))
		if err := reserve(int64(n) * AddressBytes); err != nil {
			return nil, err
		}
		page, err := d.store.Addresses(ctx, after, n)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < n {
			break
		}
	}
	return all, nil
}

// CheckAID tells an id that cannot be one from one that nobody has. The first
// kind is a broken request only where it holds what no text may hold.
func CheckAID(aid string) error {
	if aid == "" {
		return errs.New(errs.Invalid, "aid_missing", "aid is missing").In("aid")
	}
	return checkText("aid", aid, maxText)
}
