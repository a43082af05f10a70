package ledger

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/identity"
)

// vettedMost bounds the cards of one generation: the largest have 64 KiB.
const vettedMost = 128

// stall is what a seller's card says of its sales.
type stall struct {
	subject, redeemAt string
	prices            map[string]uint64
}

// vetted are sellers' cards that were verified. Everybody may ask for a quote, and to
// verify a large card is milliseconds. What is not asked for any more is forgotten
// with its generation.
type vetted struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]*stall
}

// admit is adp.Admit, answered from memory where the same card was verified under the
// same key history. Time makes no card invalid that was admitted before.
func (v *vetted) admit(s Seller, replay func([]byte) (*identity.History, error), now time.Time) (*stall, error) {
	key := cardKey(s)
	if c := v.find(key); c != nil {
		return c, nil
	}
	h, err := replay(s.KEL)
	if err != nil {
		return nil, err
	}
	c, err := adp.Admit(s.Card, h, 0, now)
	if err != nil {
		return nil, err
	}
	read := &stall{c.Subject, c.RedeemAt(), c.Prices()}
	v.keep(key, read)
	return read, nil
}

// cardKey hashes the two apart, so that no byte of one passes for one of the other.
func cardKey(s Seller) [sha256.Size]byte {
	card, kel := sha256.Sum256(s.Card), sha256.Sum256(s.KEL)
	return sha256.Sum256(append(card[:], kel[:]...))
}

func (v *vetted) find(key [sha256.Size]byte) *stall {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c := v.young[key]; c != nil {
		return c
	}
	c := v.old[key]
	if c != nil {
		v.put(key, c)
	}
	return c
}

func (v *vetted) keep(key [sha256.Size]byte, c *stall) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.put(key, c)
}

func (v *vetted) put(key [sha256.Size]byte, c *stall) {
	if len(v.young) >= vettedMost || v.young == nil {
		v.old, v.young = v.young, map[[sha256.Size]byte]*stall{}
	}
	v.young[key] = c
}
