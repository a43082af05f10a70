package peers

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
)

// Desk is where an operator enters peers, looks at them and takes them out.
type Desk struct {
	store Entries
	hubs  Hubs
	now   func() time.Time
}

// NewDesk makes a desk over its store.
func NewDesk(store Entries, hubs Hubs, now func() time.Time) *Desk { return &Desk{store, hubs, now} }

// Entries keeps the table for operators. A peer that is not there is a NotFound
// error, reason peer_unknown. Changes write their act in the same transaction,
// and one that changes nothing fails.
type Entries interface {
	// Standings gives every peer in table order.
	Standings(ctx context.Context) ([]Standing, error)
	// Add puts a peer at the end of the table. An AID, endpoint or name that is
	// there already is a Conflict: peer_known, peer_endpoint_taken, peer_name_taken.
	Add(ctx context.Context, p Peer, act audit.Act) error
	// Change changes a peer as do says, under a lock of its row. A name that is
	// another's is a Conflict.
	Change(ctx context.Context, id int64, act audit.Act, do func(*Peer) error) error
	// Remove takes a peer out, with all that was learned from it. One that owes this hub
	// something, or is owed, is a Conflict, reason peer_in_debt, unless that is left; the
	// act says what was.
	Remove(ctx context.Context, id int64, leaveDebt bool, act audit.Act) error
	// Progress tells how far the peer's streams were read.
	Progress(ctx context.Context, id int64) ([]Progress, error)
}

// Standing is a peer and how it does.
type Standing struct {
	Peer
	AddedAt     time.Time
	ProvedAt    time.Time // zero: never
	LastSuccess time.Time // of a fetch of its identity
	LastRefused time.Time
	Refusal     string // the code of what went wrong then
	RefusalWhy  string // in words
	NextTry     time.Time
}

// Failing reports whether the last thing known of the peer is a failure.
func (s Standing) Failing() bool { return s.LastRefused.After(s.LastSuccess) }

// Offer is a peer as an operator asks for it.
type Offer struct {
	Endpoint            string
	AID                 string // what the operator expects; empty: whatever proves itself
	Name                string // empty: after the host
	Delivery, Discovery bool
}

// Meet asks who answers at the endpoint and gives the entry to be made. A hub
// whose AID was named may be away: it is proven when it comes back.
func (d *Desk) Meet(ctx context.Context, self string, o Offer) (Peer, error) {
	endpoint, err := ParseEndpoint(o.Endpoint)
	if err != nil {
		return Peer{}, err
	}
	p := Peer{AID: o.AID, Endpoint: endpoint, Name: o.Name, Delivery: o.Delivery, Discovery: o.Discovery}
	if p.Name == "" {
		p.Name = NameFor(endpoint)
	}
	if err := d.free(ctx, p); err != nil {
		return p, err
	}
	if p, err = d.meet(ctx, p); err != nil {
		return p, err
	}
	if p.AID == self {
		return p, errs.New(errs.Conflict, "peer_is_self", "this hub itself answers there: it is no peer of its own").In("endpoint")
	}
	if err := p.Check(); err != nil {
		return p, err
	}
	return p, d.free(ctx, p)
}

func (d *Desk) meet(ctx context.Context, p Peer) (Peer, error) {
	says, err := d.hubs.Identity(ctx, p.Endpoint)
	if err != nil {
		if p.AID != "" && away(err) {
			return p, nil
		}
		return p, err
	}
	if p.AID == "" {
		p.AID = says.AID
	}
	p.KEL, err = Prove(p, says)
	return p, err
}

func away(err error) bool {
	return errs.Is(err, "peer_unreachable") || errs.Is(err, "answer_too_slow") || errs.Is(err, "peer_refused")
}

// free says before any question what the table would refuse.
func (d *Desk) free(ctx context.Context, p Peer) error {
	list, err := d.store.Standings(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		if err := p.differs(s.Peer); err != nil {
			return err
		}
	}
	return nil
}

// Add enters a peer that was met.
func (d *Desk) Add(ctx context.Context, p Peer, by audit.By) error {
	act := by.Did("peer.add", p.AID, d.now()).With("endpoint", p.Endpoint).With("name", p.Name).
		With("delivery", p.Delivery).With("discovery", p.Discovery)
	return d.store.Add(ctx, p, act)
}

// List gives every peer in table order.
func (d *Desk) List(ctx context.Context) ([]Standing, error) { return d.store.Standings(ctx) }

// Find gives the peer that a name, an AID or an address means.
func (d *Desk) Find(ctx context.Context, word string) (Standing, error) {
	list, err := d.store.Standings(ctx)
	if err != nil {
		return Standing{}, err
	}
	endpoint, _ := ParseEndpoint(word) // a word that is none is a name or an AID
	for _, s := range list {
		if word == s.Name || word == s.AID || endpoint == s.Endpoint {
			return s, nil
		}
	}
	return Standing{}, NoSuchPeer()
}

// Progress tells how far the streams of a peer were read.
func (d *Desk) Progress(ctx context.Context, id int64) ([]Progress, error) {
	return d.store.Progress(ctx, id)
}

// Change is what an operator changes; nil leaves as it is.
type Change struct {
	Delivery, Discovery *bool
	Name                *string
}

// Set changes what goes to and from a peer, or its name.
func (d *Desk) Set(ctx context.Context, s Standing, c Change, by audit.By) error {
	if s.FromFile {
		return InFile(s.Peer)
	}
	act := by.Did("peer.set", s.AID, d.now())
	for name, to := range map[string]*bool{"delivery": c.Delivery, "discovery": c.Discovery} {
		if to != nil {
			act = act.With(name, *to)
		}
	}
	if c.Name != nil {
		act = act.With("name", *c.Name)
	}
	return d.store.Change(ctx, s.ID, act, c.apply)
}

func (c Change) apply(p *Peer) error {
	was := *p
	if c.Delivery != nil {
		p.Delivery = *c.Delivery
	}
	if c.Discovery != nil {
		p.Discovery = *c.Discovery
	}
	if c.Name != nil {
		p.Name = *c.Name
	}
	if was.Delivery == p.Delivery && was.Discovery == p.Discovery && was.Name == p.Name {
		return errs.New(errs.Conflict, "peer_unchanged", "the peer %s is set so already", p.Name)
	}
	return p.Check()
}

// Pause stops all that goes to and from a peer; what was learned stays. Resume
// takes that back. Both work on a peer of the file, too: who has to stop one in a
// hurry must not have to restart for it.
func (d *Desk) Pause(ctx context.Context, s Standing, by audit.By) error {
	return d.store.Change(ctx, s.ID, by.Did("peer.pause", s.AID, d.now()), func(p *Peer) error { return pause(p, true) })
}

// Resume is the opposite of Pause.
func (d *Desk) Resume(ctx context.Context, s Standing, by audit.By) error {
	return d.store.Change(ctx, s.ID, by.Did("peer.resume", s.AID, d.now()), func(p *Peer) error { return pause(p, false) })
}

func pause(p *Peer, to bool) error {
	if p.Paused == to {
		return errs.New(errs.Conflict, "peer_unchanged", "the peer %s is %s already", p.Name, map[bool]string{true: "paused", false: "at work"}[to])
	}
	p.Paused = to
	return nil
}

// Remove takes a peer out, with all that was learned from it. What it and this hub owe
// each other stays in the books, where nobody can clear it while it is no peer: so that
// has to be said.
func (d *Desk) Remove(ctx context.Context, s Standing, leaveDebt bool, by audit.By) error {
	if s.FromFile {
		return InFile(s.Peer)
	}
	return d.store.Remove(ctx, s.ID, leaveDebt, by.Did("peer.remove", s.AID, d.now()).With("endpoint", s.Endpoint).With("name", s.Name))
}

// NoSuchPeer is the failure of a word that means no peer.
func NoSuchPeer() error {
	return errs.New(errs.NotFound, "peer_unknown", "no peer has this name, AID or address: see anet-hub peer list").In("peer")
}

// Known is the failure of an AID that is there.
func Known(p Peer) error {
	return errs.New(errs.Conflict, "peer_known", "this hub is a peer already, as %s at %s", p.Name, p.Endpoint).In("aid")
}

// EndpointTaken is the failure of an endpoint that is there.
func EndpointTaken(p Peer) error {
	return errs.New(errs.Conflict, "peer_endpoint_taken", "this address is that of the peer %s already", p.Name).In("endpoint")
}

// NameTaken is the failure of a name that is there.
func NameTaken(name string) error {
	return errs.New(errs.Conflict, "peer_name_taken", "another peer is called %s: choose another name", name).In("name")
}

// InDebt is the failure of taking out one that owes this hub credits, or is owed.
func InDebt(name string, owes, owed uint64) error {
	return errs.New(errs.Conflict, "peer_in_debt",
		"the peer %s owes this hub %d credits, and is owed %d: clear them first, see anet-hub credit due; with --leave-debt it goes all the same, and nobody can clear them before it is a peer again", name, owes, owed)
}

// InFile is the failure of a change to what the file says.
func InFile(p Peer) error {
	return errs.New(errs.Conflict, "peer_in_file", "the peer %s stands in the file of --peers-file: change it there and restart; pause and resume work at once", p.Name)
}
