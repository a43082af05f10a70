package reviews

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Sums of many reviews are kept for a moment.
const (
	manyReviews = 1000        // what so many of peers come to is kept; fewer are read in no time
	sumKept     = time.Minute // and so long
	maxSums     = 4096
)

// sums keeps what many reviews of peers come to. Everybody may ask, and a peer may
// teach a million reviews of one agent: they are read by one question at a time, and
// once a minute, however many ask.
type sums struct {
	asking singleflight.Group

	mu   sync.Mutex
	kept map[string]sum
}

type sum struct {
	peers []Peer
	until time.Time
}

// of gives what reviews of peers say of an agent. Who asks first reads for those who
// ask meanwhile, and goes on when it loses interest.
func (s *sums) of(ctx context.Context, store Store, aid string, now func() time.Time) ([]Peer, error) {
	if peers, held := s.held(aid, now()); held {
		return peers, nil
	}
	v, err, _ := s.asking.Do(aid, func() (any, error) {
		peers, err := store.Elsewhere(context.WithoutCancel(ctx), aid)
		if err == nil && count(peers) >= manyReviews {
			s.keep(aid, peers, now())
		}
		return peers, err
	})
	peers, _ := v.([]Peer)
	return peers, err
}

func (s *sums) held(aid string, now time.Time) ([]Peer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.kept[aid]
	return held.peers, now.Before(held.until)
}

// keep makes room by what is over. Where there is none, the sum is read again.
func (s *sums) keep(aid string, peers []Peer, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]sum{}
	}
	if len(s.kept) >= maxSums {
		maps.DeleteFunc(s.kept, func(_ string, old sum) bool { return !now.Before(old.until) })
	}
	if len(s.kept) < maxSums {
		s.kept[aid] = sum{peers, now.Add(sumKept)}
	}
}

func count(peers []Peer) (n int64) {
	for _, p := range peers {
		n += p.Rating.Count
	}
	return n
}
