// Package learnedtest has hubs that teach, in memory, for tests of who learns.
package learnedtest

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// pageLen is how many entries a page has at most.
const pageLen = 100

// Net reaches hubs by their address (learned.Net).
type Net struct {
	mu    sync.Mutex
	peers map[string]*Peer
}

// NewNet makes a net without hubs.
func NewNet() *Net { return &Net{peers: map[string]*Peer{}} }

// Peer is the hub at an address, which is made where there is none.
func (n *Net) Peer(endpoint string) *Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.peers[endpoint] == nil {
		n.peers[endpoint] = &Peer{streams: map[string][]entry{}}
	}
	return n.peers[endpoint]
}

// Get implements learned.Net.
func (n *Net) Get(ctx context.Context, address string, _ int64) (int, []byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, nil, err
	}
	cursor, err := strconv.ParseInt(u.Query().Get("cursor"), 10, 64)
	if err != nil {
		return 0, nil, err
	}
	return n.Peer(u.Scheme+"://"+u.Host).get(ctx, u.Path, cursor)
}

// Peer is a hub that tells.
type Peer struct {
	mu      sync.Mutex
	seq     int64
	streams map[string][]entry
	asked   []string
	answer  func(ctx context.Context, path string) (status int, body []byte, err error)
}

type entry struct {
	seq int64
	key string // who it is about
	raw map[string]any
}

// Answer has the hub answer in another way than it should, nil as it should.
func (p *Peer) Answer(f func(ctx context.Context, path string) (int, []byte, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

// Asked gives what was asked for since the last call.
func (p *Peer) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

func (p *Peer) get(ctx context.Context, path string, cursor int64) (int, []byte, error) {
	p.mu.Lock()
	p.asked = append(p.asked, path+" "+strconv.FormatInt(cursor, 10))
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		return answer(ctx, path)
	}
	body, err := p.page(path, cursor)
	return 200, body, err
}

func (p *Peer) page(path string, cursor int64) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	member := map[bool]string{true: "reviews", false: "cards"}[path == Reviews]
	page, list := map[string]any{"cursor": cursor}, []any{}
	for _, e := range p.streams[path] {
		if e.seq > cursor && len(list) < pageLen {
			list, page["cursor"] = append(list, e.raw), e.seq
		}
	}
	page[member] = list
	return json.Marshal(page)
}

// The paths of the streams.
const (
	Cards      = "/fed/v2/cards"
	OlderCards = "/fed/v1/cards"
	Reviews    = "/fed/v1/reviews"
)

// Tell puts an entry at the head of a stream; what was told of the same before is
// gone from it.
func (p *Peer) Tell(path, about string, e any) {
	raw, _ := json.Marshal(e)
	var members map[string]any
	_ = json.Unmarshal(raw, &members)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	members["fed_seq"] = p.seq
	p.streams[path] = append(slices.DeleteFunc(p.streams[path], func(e entry) bool { return e.key == about }), entry{p.seq, about, members})
}

// Hush takes an entry out of a stream without a word.
func (p *Peer) Hush(path, about string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams[path] = slices.DeleteFunc(p.streams[path], func(e entry) bool { return e.key == about })
}

// Agent tells of a card.
func (p *Peer) Agent(n *directorytest.Node, seq int64, now time.Time, skills ...string) {
	p.Tell(Cards, n.AID(), wire.FedCard{Format: wire.FormatA2ACard, Card: n.Card(seq, now, "an agent", skills...), KEL: n.Key.KEL(),
		Keys: n.Keyset(now, false), Home: "https://home.example.org"})
}

// Older tells of an older card.
func (p *Peer) Older(n *directorytest.Node, seq uint64, now time.Time) {
	p.Tell(OlderCards, n.AID(), wire.FedCard{Card: n.ADPCard(seq, now), KEL: n.Key.KEL(), Home: "https://home.example.org"})
}

// Withdraw takes back what was told of an agent.
func (p *Peer) Withdraw(aid string, now time.Time) {
	raw, _ := json.Marshal(wire.NewWithdrawal(aid, "left", now))
	p.Tell(Cards, aid, wire.FedCard{Format: wire.FormatWithdrawal, Card: raw})
}

// Fails answers every question with a failure.
func Fails(context.Context, string) (int, []byte, error) {
	return 0, nil, errs.New(errs.Unavailable, "peer_unreachable", "the peer cannot be reached")
}

// Status answers every question with a status and nothing else.
func Status(status int) func(context.Context, string) (int, []byte, error) {
	return func(context.Context, string) (int, []byte, error) { return status, []byte(`{}`), nil }
}
