package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
)

// Controller signs for an agent. It holds the current key and the next one,
// whose digest the history already commits to. It never changes: a rotation
// makes a new one, so the old stays usable until the new is safely stored.
type Controller struct {
	current, next ed25519.PrivateKey
	history       *History
}

// blob is a controller at rest (section A.6). Keep it as a private key.
type blob struct {
	Current []byte           `cbor:"1,keyasint"`
	Next    []byte           `cbor:"2,keyasint"`
	KEL     codec.RawMessage `cbor:"3,keyasint"`
}

// NewController makes a new agent. A zero time leaves the event undated.
func NewController(rand io.Reader, now time.Time) (*Controller, error) {
	current, err := newKey(rand)
	if err != nil {
		return nil, err
	}
	next, err := newKey(rand)
	if err != nil {
		return nil, err
	}
	c := &Controller{current: current, next: next, history: &History{}}
	return c.extend(event{Type: inception, Keys: keysOf(current), NextDigest: digestOf(next), Timestamp: millis(now)}, current, next)
}

// LoadController reads a stored controller and refuses one whose keys are not
// those its history speaks of, or whose agent was deactivated.
func LoadController(stored []byte) (*Controller, error) {
	var b blob
	if err := codec.Unmarshal(stored, &b); err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	if len(b.Current) != ed25519.SeedSize || len(b.Next) != ed25519.SeedSize {
		return nil, errors.New("controller: a seed has not 32 bytes")
	}
	h, err := Replay(b.KEL)
	if err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	c := &Controller{ed25519.NewKeyFromSeed(b.Current), ed25519.NewKeyFromSeed(b.Next), h}
	if err := c.consistent(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Controller) consistent() error {
	state := c.history.states[c.Seq()]
	switch {
	case state.Status != Active:
		return errors.New("controller: the agent was deactivated")
	case !state.Key.Equal(c.current.Public()):
		return errors.New("controller: the current seed is not that of the history")
	case !bytes.Equal(digestOf(c.next), c.history.digest):
		return errors.New("controller: the next seed is not the one committed to")
	}
	return nil
}

// Blob is the controller to be stored, private keys included.
func (c *Controller) Blob() ([]byte, error) {
	return codec.Marshal(blob{c.current.Seed(), c.next.Seed(), c.history.raw})
}

// AID is the agent signed for.
func (c *Controller) AID() string { return c.history.aid }

// KEL is the agent's key history.
func (c *Controller) KEL() []byte { return c.history.raw }

// History is the same, replayed.
func (c *Controller) History() *History { return c.history }

// Seq is the key state signatures are made under.
func (c *Controller) Seq() uint64 { return uint64(c.history.Len() - 1) }

// Sign signs a preimage with the current key.
func (c *Controller) Sign(preimage []byte) []byte { return ed25519.Sign(c.current, preimage) }

// Rotate moves to the next key and commits to a new one after it.
func (c *Controller) Rotate(rand io.Reader, now time.Time) (*Controller, error) {
	after, err := newKey(rand)
	if err != nil {
		return nil, err
	}
	return c.extend(event{Type: rotation, Keys: keysOf(c.next), NextDigest: digestOf(after), Timestamp: millis(now)}, c.next, after)
}

// Deactivate ends the agent for good and returns the history that says so.
func (c *Controller) Deactivate(now time.Time) ([]byte, error) {
	ended, err := c.extend(event{Type: deactivate, Timestamp: millis(now)}, c.current, c.next)
	if err != nil {
		return nil, err
	}
	return ended.KEL(), nil
}

// extend signs e as the next event and returns the controller after it.
func (c *Controller) extend(e event, current, next ed25519.PrivateKey) (*Controller, error) {
	e.AID, e.Prev, e.Seq, e.Threshold = c.history.aid, c.history.prev, uint64(c.history.Len()), 1
	preimage, err := e.preimage()
	if err != nil {
		return nil, err
	}
	h, err := c.history.with(signedEvent{e, c.Sign(preimage), codec.CID(preimage)}, preimage)
	if err != nil {
		return nil, err
	}
	return &Controller{current, next, h}, nil
}

// with is the history after one more event, held to the same rules as any.
func (h *History) with(s signedEvent, preimage []byte) (*History, error) {
	kel, err := appendEvent(h.raw, s)
	if err != nil {
		return nil, err
	}
	after := *h
	after.raw, after.states = kel, slices.Clone(h.states)
	if err := after.append(&s, preimage); err != nil {
		return nil, err
	}
	if len(kel) > MaxKELBytes || len(after.states) > MaxEvents {
		return nil, fmt.Errorf("the key history of %s is full", h.aid)
	}
	return &after, nil
}

func appendEvent(kel []byte, e signedEvent) ([]byte, error) {
	var events []codec.RawMessage
	if len(kel) > 0 {
		var err error
		if events, err = split(kel); err != nil {
			return nil, err
		}
	}
	raw, err := codec.Marshal(e)
	if err != nil {
		return nil, err
	}
	return codec.Marshal(append(events, raw))
}

func newKey(rand io.Reader) (ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return nil, fmt.Errorf("new key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func keysOf(k ed25519.PrivateKey) [][]byte { return [][]byte{public(k)} }

func digestOf(k ed25519.PrivateKey) []byte {
	sum := sha256.Sum256(public(k))
	return sum[:]
}

func millis(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixMilli())
}
