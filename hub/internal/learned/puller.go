package learned

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
)

const (
	tick    = time.Second
	atOnce  = 16               // readings of one process, each of another peer
	maxTurn = 2 * time.Minute  // of one reading, then others come first
	maxPage = 30 * time.Second // until a page is there, whatever Net allows
)

// What a peer may answer a reading with, beside the page.
const answered, closedPath, unknownPath = 200, 403, 404

// Net reaches peers. It bounds every answer in size and time.
type Net interface {
	Get(ctx context.Context, url string, maxBytes int64) (status int, body []byte, err error)
}

// Peers are those that are learned from now.
type Peers interface {
	All() []peers.Peer
	Discovering() []peers.Peer
	DiscoveryOff() bool // for the whole hub
}

// Puller reads what peers publish. Of all processes one reads a stream, and
// another goes on where it ended.
type Puller struct {
	Vetter
	Store   Store
	Net     Net
	Peers   Peers
	Horizon Horizon
	Metrics *Metrics
	Log     *slog.Logger

	work    chan struct{} // pages that are vetted and written at once
	enroled string        // the peers that Enroll was told of
}

// NewPuller makes one.
func NewPuller(p Puller) *Puller {
	p.work = make(chan struct{}, 2)
	return &p
}

// Run reads until ctx ends, and waits for what is under way.
func (p *Puller) Run(ctx context.Context) error {
	var busy sync.WaitGroup
	defer busy.Wait()
	free := make(chan struct{}, atOnce)
	every := time.NewTicker(tick)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		jobs, err := p.due(ctx, atOnce-len(free))
		if err != nil && ctx.Err() == nil {
			p.Log.Warn("what peers publish is not read just now", "error", err)
		}
		for _, d := range jobs {
			free <- struct{}{}
			busy.Go(func() {
				defer func() { <-free }()
				p.turn(ctx, d.Job, d.peer)
			})
		}
	}
}

// Once reads all that is due, and comes back when that is done.
func (p *Puller) Once(ctx context.Context) error {
	jobs, err := p.due(ctx, atOnce)
	var busy sync.WaitGroup
	for _, d := range jobs {
		busy.Go(func() { p.turn(ctx, d.Job, d.peer) })
	}
	busy.Wait()
	return err
}

type dueJob struct {
	Job
	peer peers.Peer
}

// due leases what is to be read now.
func (p *Puller) due(ctx context.Context, n int) (out []dueJob, err error) {
	byID, ids := map[int64]peers.Peer{}, []int64{}
	for _, peer := range p.Peers.Discovering() {
		byID[peer.ID], ids = peer, append(ids, peer.ID)
	}
	if len(ids) == 0 || n == 0 {
		return nil, nil
	}
	if known := fmt.Sprint(ids); known != p.enroled {
		if err := p.Store.Enroll(ctx, ids, p.Now()); err != nil {
			return nil, err
		}
		p.enroled = known
	}
	jobs, err := p.Store.Lease(ctx, ids, n, p.Now())
	for _, j := range jobs {
		out = append(out, dueJob{j, byID[j.Peer]})
	}
	return out, err
}

// turn reads one stream as far as it goes, and gives it back.
func (p *Puller) turn(ctx context.Context, j Job, peer peers.Peer) {
	reading, cancel := context.WithTimeout(ctx, maxTurn)
	defer cancel()
	r := &round{Puller: p, job: j, peer: peer, from: Source{Peer: j.Peer, Stream: j.Stream, Endpoint: peer.Endpoint}}
	err := r.run(reading)
	if reading.Err() != nil { // its time is over, or ours
		err = nil
	}
	p.Metrics.ended(peer.Name, j.Stream, err)
	p.tell(peer, j, r.end, err)
	giveBack, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if err := p.Store.Release(giveBack, j, outcome(j, r.end, r.news, err, p.Now()), p.Now()); err != nil {
		p.Log.Warn("the reading of a peer was not given back, it goes on when its lease has run out",
			"peer", peer.Name, "stream", j.Stream, "error", err)
	}
}

// tell logs where a stream begins to fail, and where that is over.
func (p *Puller) tell(peer peers.Peer, j Job, end bool, err error) {
	switch {
	case err != nil && j.Failures == 0:
		p.Log.Warn("a peer's stream could not be read, it is tried again", "peer", peer.Name, "stream", j.Stream, "error", err)
	case end && j.Failures > 0:
		p.Log.Info("a peer's stream is read again", "peer", peer.Name, "stream", j.Stream, "failures", j.Failures)
	}
}
