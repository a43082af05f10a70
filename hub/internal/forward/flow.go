package forward

import (
	"sync"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// atOnce is how many requests of one peer are at work at a time: what a hub of
// ours has under way to one, twice.
const atOnce = 32

// flow counts what each peer has at work. What a stranger says in its name counts
// for nothing: a request enters when its signature was checked.
type flow struct {
	mu   sync.Mutex
	busy map[int64]int
}

func newFlow() *flow { return &flow{busy: map[int64]int{}} }

func (f *flow) enter(p peers.Peer) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[p.ID] >= atOnce {
		return nil, busy()
	}
	f.busy[p.ID]++
	return func() { f.leave(p) }, nil
}

func (f *flow) leave(p peers.Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[p.ID]--; f.busy[p.ID] == 0 {
		delete(f.busy, p.ID)
	}
}
