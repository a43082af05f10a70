package replay

import (
	"math"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Bounds limit the memory: live entries of one signer, and of all together.
type Bounds struct {
	PerSigner int64
	Total     int64
}

// BoundsFor gives the bounds of wire 2, C.3, for a send rate a second and its burst.
func BoundsFor(sendRate float64, sendBurst int) Bounds {
	perSigner := 2 * (int64(math.Ceil(sendRate*Horizon.Seconds())) + int64(sendBurst))
	return Bounds{PerSigner: max(32768, perSigner), Total: 1 << 20}
}

// Count is the number of entries of one signer that expire in one minute.
type Count struct {
	AID    string
	Minute int64
	N      int64
}

// Totals describe the whole memory, all processes together.
type Totals struct{ Entries, Signers int64 }

// Census counts entries, so that no request has to. Counts are shared with
// other processes in batches: between two batches a bound may be exceeded by
// what other processes admitted meanwhile, single use never.
type Census struct {
	bounds Bounds

	mu      sync.Mutex
	signers map[string]map[int64]tally
	totals  Totals
	pending int64 // not yet in totals
}

// tally is shared, as the database last told it, and own, not yet told to it.
type tally struct{ shared, own int64 }

// NewCensus starts empty.
func NewCensus(b Bounds) *Census {
	return &Census{bounds: b, signers: map[string]map[int64]tally{}}
}

// Admit says whether the signer may have one more entry. At the total bound
// only signers that hold less than an even share are admitted, so that a few
// that flood can't lock out the rest. A live entry is never evicted.
func (c *Census) Admit(aid string, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held(aid, MinuteOf(now))
	switch {
	case held >= c.bounds.PerSigner:
		return errs.New(errs.TooMany, "replay_memory_full",
			"this agent has %d signed requests that are still remembered: send fewer", held).After(10 * time.Second)
	case c.entries() < c.bounds.Total, held < c.evenShare():
		return nil
	}
	return errs.New(errs.Unavailable, "replay_memory_busy",
		"the hub remembers as many signed requests as it can: try again in a moment").After(10 * time.Second)
}

// Entries is the number of live entries of all signers.
func (c *Census) Entries() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries()
}

// Limit is the total bound.
func (c *Census) Limit() int64 { return c.bounds.Total }

func (c *Census) held(aid string, now int64) int64 {
	var n int64
	for minute, t := range c.signers[aid] {
		if minute >= now {
			n += t.shared + t.own
		}
	}
	return n
}

func (c *Census) entries() int64 { return c.totals.Entries + c.pending }

func (c *Census) evenShare() int64 {
	signers := max(c.totals.Signers, int64(len(c.signers)), 1)
	return max(1, c.entries()/signers)
}

// Add counts one entry of p's; Add with -1 takes back one that was rolled back.
func (c *Census) Add(p Proof, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	minutes := c.signers[p.AID]
	if minutes == nil {
		minutes = map[int64]tally{}
		c.signers[p.AID] = minutes
	}
	t := minutes[p.Minute()]
	t.own += n
	minutes[p.Minute()] = t
	c.pending += n
}

// Unshared lists what the other processes don't know yet.
func (c *Census) Unshared() []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Count
	for aid, minutes := range c.signers {
		for minute, t := range minutes {
			if t.own != 0 {
				out = append(out, Count{aid, minute, t.own})
			}
		}
	}
	return out
}

// Shared takes note that told was written down, and of the sums that came back.
func (c *Census) Shared(told, sums []Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range told {
		c.update(n, func(t *tally) { t.own -= n.N })
		c.pending -= n.N
		c.totals.Entries += n.N
	}
	for _, n := range sums {
		c.update(n, func(t *tally) { t.shared = n.N })
	}
}

func (c *Census) update(n Count, change func(*tally)) {
	minutes := c.signers[n.AID]
	if minutes == nil {
		return
	}
	t := minutes[n.Minute]
	change(&t)
	minutes[n.Minute] = t
}

// Refresh replaces the totals and forgets minutes that are over.
func (c *Census) Refresh(t Totals, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals = t
	for aid, minutes := range c.signers {
		for minute, t := range minutes {
			if minute < MinuteOf(now) {
				c.pending -= t.own
				delete(minutes, minute)
			}
		}
		if len(minutes) == 0 {
			delete(c.signers, aid)
		}
	}
}
