// Package keyring keeps a node's private keys: the identity it signs with and
// the ring of keys others seal messages to.
//
// The one rule is its order: what is new is on disk before it is used. A crash
// between the two then leaves keys nobody has heard of, never a message or a
// history signed by keys that are gone.
package keyring

import (
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// The files of the data folder.
const (
	identityFile = "identity.key"
	ringFile     = "encryption.keys"
)

// Keyring is safe for use by several goroutines. Readers never wait for a disk.
type Keyring struct {
	dir  datadir.Dir
	mu   sync.Mutex // held while keys change
	keys atomic.Pointer[keys]
}

// keys change together, so that a reader never sees a set signed by an identity
// that is not there yet.
type keys struct {
	signer *identity.Controller
	ring   enckeys.Ring
}

// Init makes a new identity in the folder. Conflict when there is one.
func Init(dir datadir.Dir, now time.Time) (*Keyring, error) {
	c, err := identity.NewController(rand.Reader, now)
	if err != nil {
		return nil, fmt.Errorf("make an identity: %w", err)
	}
	if err := found(dir, c); err != nil {
		return nil, err
	}
	return Open(dir, now)
}

// found stores the identity of a folder that has none.
func found(dir datadir.Dir, c *identity.Controller) error {
	exists, err := dir.Exists(identityFile)
	if err != nil {
		return err
	}
	if exists {
		return errs.New(errs.Conflict, "identity_exists",
			"%s holds an identity already; choose another data folder with %s", dir, datadir.EnvVar)
	}
	return storeSigner(dir, c)
}

func storeSigner(dir datadir.Dir, c *identity.Controller) error {
	blob, err := c.Blob()
	if err != nil {
		return err
	}
	return dir.Write(identityFile, blob)
}

// Open loads the folder's keys. NotFound when it has no identity. An identity
// that came without its ring gets a new one: mail sealed to the old is lost.
func Open(dir datadir.Dir, now time.Time) (*Keyring, error) {
	signer, err := loadSigner(dir)
	if err != nil {
		return nil, err
	}
	ring, err := loadRing(dir)
	if err != nil {
		return nil, err
	}
	k := &Keyring{dir: dir}
	k.keys.Store(&keys{signer, ring})
	_, err = k.Advance(now)
	return k, err
}

func loadSigner(dir datadir.Dir) (*identity.Controller, error) {
	blob, err := dir.ReadSecret(identityFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New(errs.NotFound, "identity_missing", "%s holds no identity yet; run: anet init", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the identity: %w", err)
	}
	c, err := identity.LoadController(blob)
	if err != nil {
		return nil, errs.New(errs.Internal, "identity_broken", "%s is damaged; restore it from a backup", dir.Path(identityFile)).Because(err)
	}
	return c, nil
}

func loadRing(dir datadir.Dir) (enckeys.Ring, error) {
	blob, err := dir.ReadSecret(ringFile)
	if errors.Is(err, fs.ErrNotExist) {
		return enckeys.Ring{}, nil
	}
	if err != nil {
		return enckeys.Ring{}, fmt.Errorf("read the encryption keys: %w", err)
	}
	ring, err := enckeys.LoadRing(blob)
	if err != nil {
		return enckeys.Ring{}, errs.New(errs.Internal, "encryption_keys_broken",
			"%s is damaged; restore it, or remove it and lose the mail under way", dir.Path(ringFile)).Because(err)
	}
	return ring, nil
}

// Signer is the identity of the moment.
func (k *Keyring) Signer() *identity.Controller { return k.keys.Load().signer }

// AID is who the node is, whatever its keys.
func (k *Keyring) AID() string { return k.Signer().AID() }

// Private gives the private half of an encryption key while it is kept.
func (k *Keyring) Private(kid envelope.KID) (hpke.PrivateKey, bool) {
	return k.keys.Load().ring.Private(kid)
}

// Due is when Advance has something to do next.
func (k *Keyring) Due() time.Time { return k.keys.Load().ring.Due() }

// Advance makes the encryption key that is due and erases those kept long
// enough. After a change the new set wants to be published.
func (k *Keyring) Advance(now time.Time) (changed bool, err error) {
	err = k.change(func(old keys) (keys, error) {
		ring, moved, err := old.ring.Advance(now)
		changed = moved
		return keys{old.signer, ring}, err
	})
	return changed, err
}

// Published is the signed set of the present keys, as the hub and every message
// carry it. A key that is due is made: the clock may have been set since the
// last look, and nothing could be sent with the keys of another time.
func (k *Keyring) Published(now time.Time) (set []byte, err error) {
	err = k.change(func(old keys) (keys, error) {
		ring, _, err := old.ring.Advance(now)
		if err != nil {
			return old, err
		}
		ring, wire, err := ring.Publish(old.signer, now)
		set = wire
		return keys{old.signer, ring}, err
	})
	return set, err
}

// Renewed is the same under a new sequence number, for a hub that has a later
// set than this node knows of.
func (k *Keyring) Renewed(now time.Time) (set []byte, err error) {
	err = k.change(func(old keys) (keys, error) {
		ring, wire, err := old.ring.Renew(old.signer, now)
		set = wire
		return keys{old.signer, ring}, err
	})
	return set, err
}

// Rotate moves the identity to its next key. The AID stays; the hub learns of
// it with the next registration.
func (k *Keyring) Rotate(now time.Time) error {
	return k.change(func(old keys) (keys, error) {
		next, err := old.signer.Rotate(rand.Reader, now)
		return keys{next, old.ring}, err
	})
}

// change stores what step makes of the keys, then lets others see it.
func (k *Keyring) change(step func(old keys) (keys, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := *k.keys.Load()
	next, err := step(old)
	if err != nil {
		return err
	}
	if next.signer != old.signer {
		if err := storeSigner(k.dir, next.signer); err != nil {
			return err
		}
	}
	if err := k.storeRing(old.ring, next.ring); err != nil {
		return err
	}
	k.keys.Store(&next)
	return nil
}

// storeRing writes a ring that differs from the one on disk.
func (k *Keyring) storeRing(old, next enckeys.Ring) error {
	before, err := old.Blob()
	if err != nil {
		return err
	}
	after, err := next.Blob()
	if err != nil || string(before) == string(after) {
		return err
	}
	return k.dir.Write(ringFile, after)
}
