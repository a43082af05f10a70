package identity

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// stateCost is what a replayed event holds beside its bytes.
const stateCost = 96

// Cache remembers replayed histories under the hash of their bytes, the least
// recently used leaving first (section A.7). The zero value keeps nothing.
type Cache struct {
	max int

	mu    sync.Mutex
	size  int
	byKey map[[sha256.Size]byte]*list.Element
	byAID map[string]*list.Element // the last one asked for
	order list.List                // front is the most recent
}

type cached struct{ history *History }

func (c cached) cost() int { return len(c.history.raw) + stateCost*len(c.history.states) }

// NewCache makes a cache of at most max bytes.
func NewCache(max int) *Cache {
	return &Cache{max: max, byKey: map[[sha256.Size]byte]*list.Element{}, byAID: map[string]*list.Element{}}
}

// Replay is identity.Replay, answered from memory where it can be. A history
// that does not replay is not kept: it would push out those that do.
func (c *Cache) Replay(kel []byte) (*History, error) {
	if len(kel) > MaxKELBytes {
		return Replay(kel)
	}
	key := sha256.Sum256(kel)
	if h := c.find(key); h != nil {
		return h, nil
	}
	h, err := Replay(kel)
	if err == nil {
		c.keep(cached{h})
	}
	return h, err
}

// Latest is the history of an agent that was replayed last, nil when none is
// remembered. Another process may have learned of a longer one: whoever relies
// on it has to find out that it is still the one on record.
func (c *Cache) Latest(aid string) *History {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byAID[aid]
	if e == nil {
		return nil
	}
	return c.use(e)
}

// Forget makes Latest remember nothing of an agent. Its histories stay, for
// whoever brings one.
func (c *Cache) Forget(aid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byAID, aid)
}

func (c *Cache) find(key [sha256.Size]byte) *History {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	return c.use(e)
}

func (c *Cache) use(e *list.Element) *History {
	c.order.MoveToFront(e)
	h := e.Value.(cached).history
	c.byAID[h.aid] = e
	return h
}

func (c *Cache) keep(v cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[v.history.sum] != nil || v.cost() > c.max {
		return
	}
	e := c.order.PushFront(v)
	c.byKey[v.history.sum], c.byAID[v.history.aid] = e, e
	for c.size += v.cost(); c.size > c.max; {
		c.drop(c.order.Back())
	}
}

func (c *Cache) drop(e *list.Element) {
	v := c.order.Remove(e).(cached)
	delete(c.byKey, v.history.sum)
	if c.byAID[v.history.aid] == e {
		delete(c.byAID, v.history.aid)
	}
	c.size -= v.cost()
}
