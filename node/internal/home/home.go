// Package home is the node's place at its hub: it registers what the node
// offers, again whenever that changes, and knows how it stands.
//
// The one rule: what is registered is computed from what is served and public
// at that moment. A hub that cannot be reached stops nothing but being listed.
package home

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/listing"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Hub is what registering asks of one; hubclient.Client is one.
type Hub interface {
	listing.Hub
	Hub() string
	Meet(ctx context.Context, p hubclient.Pin) (hubclient.Pin, error)
	Deregister(ctx context.Context) (wire.Deregistered, error)
	Agent(ctx context.Context, aid string) (wire.AgentPage, error)
	Why(ctx context.Context, capID string) (wire.Why, error)
	SetVisibility(ctx context.Context, visibility string) error
	Supported(ctx context.Context) (payment.Supported, error)
	Balance(ctx context.Context) (wire.Balance, error)
	Ledger(ctx context.Context, limit int) (wire.LedgerPage, error)
}

// Parts is what a home is made of. Hub is nil for a node that joined none.
type Parts struct {
	Dir      datadir.Dir
	Keys     *keyring.Keyring
	Registry *provider.Registry
	Hub      Hub
	Pin      hubclient.Pin
	Config   *config.Config
	Log      *slog.Logger
	Now      func() time.Time
}

// Home keeps the node registered.
type Home struct {
	Parts
	poke chan struct{}

	registering sync.Mutex // one at a time: a late answer must not undo a newer one

	mu     sync.Mutex    // guards what follows, and Pin and Config
	tried  chan struct{} // closed by the first attempt that ended since the start or a rotation
	left   bool
	back   chan struct{} // closed when left turns false
	report listing.Report
	at     time.Time // of the last registration that was taken
	err    error     // of the last attempt
	untold error     // why the hub was not told the visibility then

	networks []string // that it settles on
	other    error    // why the last who answered at the hub's URL is not the hub
}

// leftFile says that the node left its hub on purpose: it does not come back
// by itself.
const leftFile = "hub.left"

// HasLeft reports whether the node of a folder left the hub it knows.
func HasLeft(dir datadir.Dir) (bool, error) { return dir.Exists(leftFile) }

// New reads how the node parted from its hub.
func New(p Parts) (*Home, error) {
	left, err := HasLeft(p.Dir)
	return &Home{
		Parts: p, poke: make(chan struct{}, 1), tried: make(chan struct{}),
		left: left, back: make(chan struct{}),
	}, err
}

// notJoined is the failure of everything that needs a hub.
func notJoined() *errs.Error {
	return errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
}

// Poke asks for a registration soon.
func (h *Home) Poke() {
	select {
	case h.poke <- struct{}{}:
	default:
	}
}

// Member waits until the node has a hub that it has not left.
func (h *Home) Member(ctx context.Context) error {
	for h.Hub != nil {
		h.mu.Lock()
		left, back := h.left, h.back
		h.mu.Unlock()
		if !left {
			return nil
		}
		select {
		case <-back:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// Ready waits until the node may ask its hub for mail: a member, and settled.
func (h *Home) Ready(ctx context.Context) error {
	if err := h.Member(ctx); err != nil {
		return err
	}
	return h.Settled(ctx)
}

// Settled waits until the hub has been told who the node is, or that was tried:
// a hub answers nobody it has not met, and refuses the signature of a key it has
// not heard of. A node that left tells its hub nothing.
func (h *Home) Settled(ctx context.Context) error {
	h.mu.Lock()
	tried, left := h.tried, h.left
	h.mu.Unlock()
	if left {
		return nil
	}
	select {
	case <-tried:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settled lets those go on who wait for an attempt to register. The caller holds
// the lock of what it guards.
func (h *Home) settled() {
	select {
	case <-h.tried:
	default:
		close(h.tried)
	}
}

// settleWait bounds how long a message waits for a registration: where that is
// slow, a failure to be tried again tells more than silence.
const settleWait = 10 * time.Second

// Trusted waits for the registration that was to be tried, and fails while
// another hub than the one joined answers at its URL: that one would say it took
// the mail, and learn who writes to whom. A node that left is told nothing here.
func (h *Home) Trusted(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	switch err := h.Settled(short); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errs.New(errs.Unavailable, "not_registered_yet", "the hub has not been told yet who this node is").Because(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left {
		return nil
	}
	return h.other
}

// Present is the configuration of the moment. Only commands change it, the file
// is read at the start.
func (h *Home) Present() *config.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Config
}

// change writes edits into the file and into the configuration of the moment.
func (h *Home) change(apply func(*config.Config), edits ...config.Edit) error {
	if err := config.Update(h.Dir, edits...); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := *h.Config
	apply(&c)
	h.Config = &c
	return nil
}

// setLeft notes on disk, and for those who wait, whether the node left.
func (h *Home) setLeft(left bool) error {
	if left {
		if err := h.Dir.Write(leftFile, []byte("This node left its hub; anet hub-register brings it back.\n")); err != nil {
			return err
		}
	} else if err := os.Remove(h.Dir.Path(leftFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case left && !h.left:
		h.back = make(chan struct{})
	case !left && h.left:
		close(h.back)
	}
	h.left = left
	return nil
}
