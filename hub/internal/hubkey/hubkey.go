// Package hubkey keeps the hub's own identity. It lives in the database, so
// that every process of one hub speaks with one voice: the first process
// creates it, the others find it, and a rotation reaches all of them.
package hubkey

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/upkeep"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// refresh is how soon a process notices a rotation done elsewhere.
const refresh = 5 * time.Second

// heard is how long the key before a rotation goes on counting, so that what a
// process signs with it before it notices holds: a receipt, a link of a chain. Who
// stole the key gains nothing, since it can date what it signs as it likes.
const heard = 6 * refresh

// Store keeps one identity blob (wire 2, A.6) with its version.
type Store interface {
	// Load gives the blob and its version; a NotFound error when there is none.
	Load(ctx context.Context) (blob []byte, version int64, err error)
	// Create stores the first blob. A Conflict error means another process was first.
	Create(ctx context.Context, blob []byte) error
	// Replace stores a later blob over the version read, and who did it, or fails
	// with Conflict.
	Replace(ctx context.Context, blob []byte, version int64, act audit.Act) error
}

// Keeper holds the identity of this process's hub.
type Keeper struct {
	store Store
	log   *slog.Logger
	held  atomic.Pointer[held]
}

type held struct {
	key     *identity.Controller
	version int64
}

// Find loads the identity. On a database without one it is a NotFound error.
func Find(ctx context.Context, store Store, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{store: store, log: log}
	return k, k.load(ctx)
}

// Open loads the identity, creating it on an empty database. Processes that
// start at once agree on one: who loses the race loads what the winner stored.
func Open(ctx context.Context, store Store, now time.Time, log *slog.Logger) (*Keeper, error) {
	k, err := Find(ctx, store, log)
	if errs.KindOf(err) != errs.NotFound {
		return k, err
	}
	if err := k.create(ctx, now); err != nil && errs.KindOf(err) != errs.Conflict {
		return nil, err
	}
	return k, k.load(ctx)
}

func (k *Keeper) create(ctx context.Context, now time.Time) error {
	c, err := identity.NewController(rand.Reader, now)
	if err != nil {
		return fmt.Errorf("make the hub's identity: %w", err)
	}
	blob, err := c.Blob()
	if err != nil {
		return err
	}
	return k.store.Create(ctx, blob)
}

func (k *Keeper) load(ctx context.Context) error {
	blob, version, err := k.store.Load(ctx)
	if err != nil {
		return err
	}
	if h := k.held.Load(); h != nil && h.version == version {
		return nil
	}
	key, err := identity.LoadController(blob)
	if err != nil {
		return fmt.Errorf("the stored hub identity is damaged: %w", err)
	}
	k.held.Store(&held{key: key, version: version})
	return nil
}

// Current gives the identity.
func (k *Keeper) Current() *identity.Controller {
	if h := k.held.Load(); h != nil {
		return h.key
	}
	return nil
}

// Ready fails while the stored identity can't be read.
func (k *Keeper) Ready(ctx context.Context) error { return k.load(ctx) }

// Rotate replaces the signing key. The AID stays; the history grows by one
// event. Running processes follow within seconds, and the event is dated a little
// ahead until they have.
func (k *Keeper) Rotate(ctx context.Context, by audit.By, now time.Time) (*identity.Controller, error) {
	h := k.held.Load()
	next, err := h.key.Rotate(rand.Reader, now.Add(heard))
	if err != nil {
		return nil, fmt.Errorf("rotate the hub's identity: %w", err)
	}
	blob, err := next.Blob()
	if err != nil {
		return nil, err
	}
	act := by.Did("identity.rotate", next.AID(), now).With("seq", next.Seq())
	if err := k.store.Replace(ctx, blob, h.version, act); err != nil {
		return nil, err
	}
	return next, k.load(ctx)
}

// Run follows rotations until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	return upkeep.Every(ctx, refresh, k.log, "the hub identity could not be read again", k.load)
}
