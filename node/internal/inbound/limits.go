package inbound

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// Notices of refusal and of unknown tasks are sent once each and within these
// limits, silence beyond (L.3): an answer to everything would make the node an
// amplifier.
const (
	noticesPerPeer   = 6 // and hour
	noticesPerMinute = 60
	noticePeers      = 10_000
)

// Pace bounds what is said to each peer in a window, and to all of them in a minute.
type Pace struct {
	mu                 sync.Mutex
	peer, all          *windows
	perPeer, perMinute int
}

func newPace(perPeer int, window time.Duration, peers, perMinute int) *Pace {
	return &Pace{peer: newWindows(window, peers), all: newWindows(time.Minute, 1), perPeer: perPeer, perMinute: perMinute}
}

// NewNotices is the pace of L.3, with everything allowed.
func NewNotices() *Pace { return newPace(noticesPerPeer, time.Hour, noticePeers, noticesPerMinute) }

// Allow uses one word to the peer; false when it must stay unsaid.
func (p *Pace) Allow(peer string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peer.count(peer, now) >= p.perPeer || p.all.count("", now) >= p.perMinute {
		return false
	}
	p.peer.add(peer, now)
	p.all.add("", now)
	return true
}

// A stored answer is sent again to a requester that asks again, at this pace (L.6).
const (
	resendBurst     = 2
	resendEvery     = 5 * time.Minute
	resendPerMinute = 60
	resendTasks     = 10_000
)

// Resends keeps the limits of L.6.
type Resends struct {
	mu     sync.Mutex
	byTask *lru.LRU[string, *rate.Limiter]
	all    *windows
}

// NewResends begins with everything allowed.
func NewResends() *Resends {
	byTask, err := lru.NewLRU[string, *rate.Limiter](resendTasks, nil)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &Resends{byTask: byTask, all: newWindows(time.Minute, 1)}
}

// Allow uses one resend of the task's answer; false when it must wait.
func (r *Resends) Allow(peer, task string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all.count("", now) >= resendPerMinute || !r.limiter(peer+"\x00"+task).AllowN(now, 1) {
		return false
	}
	r.all.add("", now)
	return true
}

func (r *Resends) limiter(key string) *rate.Limiter {
	l, ok := r.byTask.Get(key)
	if !ok {
		l = rate.NewLimiter(rate.Every(resendEvery), resendBurst)
		r.byTask.Add(key, l)
	}
	return l
}
