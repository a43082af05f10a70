package postgres

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// learner is a hub that learns from hubs in memory.
type learner struct {
	*hub
	net    *learnedtest.Net
	learns *Learned
	list   []peers.Peer
	off    bool // discovery, for the whole hub
	puller *learned.Puller
}

// quota is what a peer may teach in these tests.
var quota = learned.Room{Agents: 2000, Marks: 4000, Bytes: 64 << 20}

// newLearner is a hub with so many peers, called p1, p2 and so on.
func newLearner(t *testing.T, n int) *learner {
	h := newHub(t)
	l := &learner{hub: h, net: learnedtest.NewNet(), learns: NewLearned(h.pool, quota)}
	for i := range n {
		l.addPeer(i + 1)
	}
	l.puller = l.process()
	return l
}

func (l *learner) addPeer(i int) {
	l.t.Helper()
	p := peers.Peer{AID: l.node().AID(), Endpoint: fmt.Sprintf("https://p%d.example.org", i), Name: fmt.Sprintf("p%d", i), Discovery: true, KEL: []byte{1}}
	err := l.pool.QueryRow(l.t.Context(), `
		INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, kel, proved_at, added_at, next_try_at)
		VALUES ($1, $2, $3, $4, true, true, '\x80', $5, $5, $5) RETURNING id`, i, p.AID, p.Endpoint, p.Name, l.clock.now()).Scan(&p.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	l.list = append(l.list, p)
}

// process is one more process of the hub.
func (l *learner) process() *learned.Puller {
	return learned.NewPuller(learned.Puller{
		Vetter: learned.Vetter{Replay: identity.Replay, Now: l.clock.now},
		Store:  l.learns, Net: l.net, Peers: l, Horizon: l.lives,
		Metrics: learned.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
	})
}

func (l *learner) All() []peers.Peer { return l.list }

func (l *learner) Discovering() (out []peers.Peer) {
	for _, p := range l.list {
		if p.Discovers() && !l.off {
			out = append(out, p)
		}
	}
	return out
}

func (l *learner) DiscoveryOff() bool { return l.off }

func (l *learner) peer(i int) *learnedtest.Peer { return l.net.Peer(l.list[i-1].Endpoint) }

// pull lets time pass and reads every stream of every peer.
func (l *learner) pull() {
	l.t.Helper()
	l.clock.advance(3 * time.Minute)
	for range 3 { // of each peer one stream at a time
		if err := l.puller.Once(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
	}
}

// judge brings lists to what holds for the teachers.
func (l *learner) judge() {
	l.t.Helper()
	if err := l.puller.Judge(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// wants compares what ?cap= finds, in the order it is shown.
func (l *learner) wants(why, value string, nodes ...*directorytest.Node) {
	l.t.Helper()
	var want []string
	for _, n := range nodes {
		want = append(want, n.AID())
	}
	if got := l.find(value); !slices.Equal(got, want) {
		l.t.Errorf("%s: %s finds %v, want %v", why, value, got, want)
	}
}

// shows gives the one agent that ?cap= finds.
func (l *learner) shows(value string) wire.Agent {
	l.t.Helper()
	q, _ := directory.AskCap(value)
	p, err := l.List(l.t.Context(), q, 10, "", plenty)
	if err != nil || p.Count != 1 {
		l.t.Fatalf("%s finds %d agents, want one (%v)", value, p.Count, err)
	}
	return viewsOf(l.t, p)[0]
}

func (l *learner) row(sql string, args ...any) (out string) {
	l.t.Helper()
	if err := l.pool.QueryRow(l.t.Context(), sql, args...).Scan(&out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// whole asks what looks at restored backups.
func (l *learner) whole() {
	l.t.Helper()
	wrong, err := NewIntegrity(l.pool, func(string) {}).Check(l.t.Context())
	if err != nil || len(wrong) > 0 {
		l.t.Errorf("the database does not hold together: %v %v", wrong, err)
	}
}

// list1 asks ?q=, a page of one at a time.
func (l *learner) list1(text string) []string {
	q, err := directory.AskText(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.hub.list(q, 1)
}

func (l *learner) progress(peer int64) peers.Progress {
	l.t.Helper()
	all, err := NewPeers(l.pool).Progress(l.t.Context(), l.list[peer-1].ID)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, p := range all {
		if p.Stream == peers.Cards {
			return p
		}
	}
	l.t.Fatalf("no stream of cards in %+v", all)
	return peers.Progress{}
}

func (l *learner) viewOf(n *directorytest.Node) wire.Agent {
	l.t.Helper()
	v, _, err := l.Show(l.t.Context(), n.AID())
	if err != nil {
		l.t.Fatal(err)
	}
	return v
}
