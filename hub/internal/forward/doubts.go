package forward

import (
	"sync"
	"time"
)

const (
	doubtWait  = 2 * time.Second // for a fetch of a history
	doubtEvery = time.Minute     // as often as a doubt has one fetched
)

// doubts remembers when the key history of a peer was last doubted.
type doubts struct {
	mu sync.Mutex
	at map[int64]time.Time
}

// first reports whether a doubt is the first for a while.
func (d *doubts) first(id int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.Sub(d.at[id]) >= doubtEvery {
		if d.at == nil {
			d.at = map[int64]time.Time{}
		}
		d.at[id] = now
		return true
	}
	return false
}
