package peers

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

const (
	proveEvery = 5 * time.Minute // a peer that is proven: its key may have been rotated
	proveAgain = time.Minute     // after a failure, and at most as often for a doubt
	lookEvery  = time.Second
	fetches    = 8 // at once: one that hangs holds up no other
)

// Hubs asks hubs who they are.
type Hubs interface {
	Identity(ctx context.Context, endpoint string) (wire.Identity, error)
}

// Proofs keeps what fetches found out.
type Proofs interface {
	// Due claims a peer whose time has come, for whoever asks first: the next
	// claim is at again. ok is false where there is none.
	Due(ctx context.Context, now, again time.Time) (p Peer, ok bool, err error)
	// Sooner has a peer fetched at once, or as soon as its last try is gap old.
	Sooner(ctx context.Context, aid string, now time.Time, gap time.Duration) error
	// Proved pins a history over the one that p has, and sets the next try. Where
	// another process was faster nothing is pinned.
	Proved(ctx context.Context, p Peer, kel []byte, now, next time.Time) error
	// Refused keeps a failure. One that led astray holds until the peer is proven
	// again, whatever comes after it.
	Refused(ctx context.Context, id int64, now time.Time, f Failure) error
}

// Failure is what went wrong with a peer.
type Failure struct {
	Code, Why string
	Astray    bool // another hub answers there, as all processes have to know
}

func failure(err error) Failure { return Failure{codeOf(err), words(err), astray(err)} }

// Prover runs the handshake in the background: it proves those who are not, looks
// whether the others have a longer history, and finds out who answers again.
type Prover struct {
	store    Proofs
	hubs     Hubs
	table    *Table
	circuits *Circuits
	now      func() time.Time
	log      *slog.Logger

	doubts chan string
	slots  chan struct{}
	wait   sync.WaitGroup

	mu      sync.Mutex
	doubted map[string]time.Time // when a doubt of a peer was last taken up
	failing map[int64]string     // the code of the failure that was logged
}

// ProverDeps are what a Prover stands on.
type ProverDeps struct {
	Store    Proofs
	Hubs     Hubs
	Table    *Table
	Circuits *Circuits
	Now      func() time.Time
	Log      *slog.Logger
}

// NewProver makes a prover; it works while Run does.
func NewProver(d ProverDeps) *Prover {
	return &Prover{
		store: d.Store, hubs: d.Hubs, table: d.Table, circuits: d.Circuits, now: d.Now, log: d.Log,
		doubts: make(chan string, fetches), slots: make(chan struct{}, fetches),
		doubted: map[string]time.Time{}, failing: map[int64]string{},
	}
}

// Recheck has a peer fetched whose signature does not hold under the history that
// is pinned: it may have rotated its key. Whoever sends false signatures in its
// name gets one fetch a minute out of it.
func (p *Prover) Recheck(aid string) {
	if _, known := p.table.ByAID(aid); !known || !p.takesUp(aid) {
		return
	}
	select {
	case p.doubts <- aid:
	default: // so many doubts are no honest ones
	}
}

func (p *Prover) takesUp(aid string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.doubted[aid]) >= proveAgain {
		p.doubted[aid] = now
		return true
	}
	return false
}

// Run works until ctx ends, and waits for what is under way.
func (p *Prover) Run(ctx context.Context) error {
	defer p.wait.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case aid := <-p.doubts:
			p.tell(ctx, p.store.Sooner(ctx, aid, p.now(), proveAgain))
		case <-tick.C:
			p.probe(ctx)
		}
		p.tell(ctx, p.prove(ctx))
	}
}

// prove fetches all that are due, as far as there are hands for it.
func (p *Prover) prove(ctx context.Context) error {
	for p.hand() {
		peer, ok, err := p.store.Due(ctx, p.now(), p.now().Add(proveAgain))
		if err != nil || !ok {
			<-p.slots
			return err
		}
		p.start(ctx, peer)
	}
	return nil
}

// probe looks again at the peers that this process gave up calling, whichever
// process fetches them otherwise: it may be this one's network that is cut.
func (p *Prover) probe(ctx context.Context) {
	p.circuits.forget(p.table.All())
	for _, up := range p.circuits.gaveUp() {
		p.tell(ctx, p.store.Refused(ctx, up.id, p.now(), failure(up.err)))
	}
	for _, peer := range p.circuits.due(p.table.All()) {
		if !p.hand() {
			return
		}
		p.start(ctx, peer)
	}
}

func (p *Prover) hand() bool {
	select {
	case p.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (p *Prover) start(ctx context.Context, peer Peer) {
	p.wait.Add(1)
	go func() {
		defer func() { <-p.slots; p.wait.Done() }()
		p.fetch(ctx, peer)
	}()
}

func (p *Prover) fetch(ctx context.Context, peer Peer) {
	kel, err := p.ask(ctx, peer)
	if ctx.Err() != nil {
		return
	}
	p.circuits.fetched(peer.ID, err)
	p.note(peer, err)
	if err != nil {
		p.tell(ctx, p.store.Refused(ctx, peer.ID, p.now(), failure(err)))
		p.tell(ctx, p.table.Refresh(ctx))
		return
	}
	p.tell(ctx, p.store.Proved(ctx, peer, kel, p.now(), p.now().Add(proveEvery)))
	if !bytes.Equal(kel, peer.KEL) {
		p.log.Info("a peer is proven", "peer", peer.Name, "again", peer.Proven())
		p.tell(ctx, p.table.Refresh(ctx))
	}
}

func (p *Prover) ask(ctx context.Context, peer Peer) ([]byte, error) {
	says, err := p.hubs.Identity(ctx, peer.Endpoint)
	if err != nil {
		return nil, err
	}
	return Prove(peer, says)
}

func codeOf(err error) string {
	if e := errs.As(err); e != nil {
		return e.Reason
	}
	return errs.Internal.String()
}

// words are what an operator is shown: ours, and nothing a peer wrote.
func words(err error) string {
	if e := errs.As(err); e != nil {
		return e.Message
	}
	return "something went wrong at this hub: its log says what"
}

// note logs a failure when it begins, when it becomes another, and its end.
func (p *Prover) note(peer Peer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.failing[peer.ID]
	switch {
	case err == nil && was != "":
		delete(p.failing, peer.ID)
		p.log.Info("a peer answers again", "peer", peer.Name)
	case err != nil && was != codeOf(err):
		p.failing[peer.ID] = codeOf(err)
		p.log.Warn("a peer does not answer as it should", "peer", peer.Name, "code", codeOf(err), "error", err)
	}
}

func (p *Prover) tell(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		p.log.Warn("the proof of a peer could not be kept", "error", err)
	}
}
