package peers

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// recorded is a store of what a test says.
type recorded struct {
	records map[int64]Record
	fails   error
}

func (r *recorded) Records(context.Context) (map[int64]Record, error) { return r.records, r.fails }

// tabled is a table that holds a list.
func tabled(list ...Peer) *Table {
	t := &Table{}
	t.held.Store(&held{peers: list})
	return t
}

func hour(n int) time.Time { return time.Unix(int64(n)*3600, 0) }

func TestMetricsTellOfEachPeer(t *testing.T) {
	a := Peer{ID: 1, Name: "a", KEL: []byte{1}, Delivery: true, Discovery: true}
	b := Peer{ID: 2, Name: "b", Discovery: true, Paused: true}
	circuits := NewCircuits(func() time.Time { return hour(9) })
	store := &recorded{records: map[int64]Record{
		1: {AddedAt: hour(1), LastSuccess: hour(8), Agents: 7, Streams: []Reading{{Stream: Cards, LastOK: hour(9), Held: 2}, {Stream: Reviews}}},
		2: {AddedAt: hour(2), Agents: 1, Streams: []Reading{{Stream: Cards}}},
	}}
	w := NewWatch(tabled(a, b), circuits, store, func() time.Time { return hour(10) }, slog.New(slog.DiscardHandler))
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = `
# HELP anet_hub_peer_agents Agents known from the peer.
# TYPE anet_hub_peer_agents gauge
anet_hub_peer_agents{peer="a"} 7
anet_hub_peer_agents{peer="b"} 1
# HELP anet_hub_peer_circuit_open 1 while this process leaves the peer alone, since it did not answer.
# TYPE anet_hub_peer_circuit_open gauge
anet_hub_peer_circuit_open{peer="a"} 0
anet_hub_peer_circuit_open{peer="b"} 0
# HELP anet_hub_peer_entries_held Entries of a stream of the peer that are refused for now.
# TYPE anet_hub_peer_entries_held gauge
anet_hub_peer_entries_held{peer="a",stream="cards"} 2
anet_hub_peer_entries_held{peer="a",stream="reviews"} 0
anet_hub_peer_entries_held{peer="b",stream="cards"} 0
# HELP anet_hub_peer_last_success_timestamp_seconds When the peer last answered as it should; 0 for never.
# TYPE anet_hub_peer_last_success_timestamp_seconds gauge
anet_hub_peer_last_success_timestamp_seconds{peer="a"} 28800
# HELP anet_hub_peer_proven 1 while the peer has proven its AID.
# TYPE anet_hub_peer_proven gauge
anet_hub_peer_proven{peer="a"} 1
anet_hub_peer_proven{peer="b"} 0
# HELP anet_hub_peer_pull_lag_seconds Since when a stream of the peer was not read to its end.
# TYPE anet_hub_peer_pull_lag_seconds gauge
anet_hub_peer_pull_lag_seconds{peer="a",stream="cards"} 3600
anet_hub_peer_pull_lag_seconds{peer="a",stream="reviews"} 32400
`
	if err := testutil.CollectAndCompare(w, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	// Away, the database takes nothing from what was known; removed, a peer is gone
	// whatever was known.
	store.fails = errors.New("away")
	if w.Look(t.Context()) == nil {
		t.Error("a database that is away was read")
	}
	w.table.held.Store(&held{peers: []Peer{a}})
	if n := testutil.CollectAndCount(w); n != 8 {
		t.Errorf("%d series of one peer, want 8", n)
	}
}

func TestWhatEverybodyMayKnowOfPeers(t *testing.T) {
	proven := func(p Peer) Peer { p.KEL = []byte{1}; return p }
	list := []Peer{
		proven(Peer{ID: 1, Name: "both", AID: "x", Endpoint: "https://x", Delivery: true, Discovery: true}),
		proven(Peer{ID: 2, Name: "paused", Delivery: true, Discovery: true, Paused: true}),
		{ID: 3, Name: "said", Delivery: true},
		proven(Peer{ID: 4, Name: "new", Delivery: true}), // not looked at yet
	}
	store := &recorded{records: map[int64]Record{1: {AddedAt: hour(1), Agents: 5}, 2: {AddedAt: hour(2)}, 3: {AddedAt: hour(3)}}}
	w := NewWatch(tabled(list...), NewCircuits(time.Now), store, time.Now, slog.New(slog.DiscardHandler))
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []Face{
		{Name: "both", AID: "x", Endpoint: "https://x", Delivery: true, Discovery: true, Since: hour(1), Agents: 5},
		{Name: "paused", Since: hour(2)},
	}
	got := w.Faces()
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("everybody is told %+v\nwant %+v", got, want)
	}
}

// Counters of a peer that is gone are gone, those under no name stay.
func TestSeriesOfPeersThatAreGone(t *testing.T) {
	count := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "n", Help: "n"}, []string{"peer", "outcome"})
	for _, peer := range []string{"", "a", "b"} {
		count.WithLabelValues(peer, "ok").Inc()
		count.WithLabelValues(peer, "failed").Inc()
	}
	table := tabled(Peer{ID: 1, Name: "a"}, Peer{ID: 2, Name: "b"})
	reg := prometheus.NewPedanticRegistry()
	Following{reg, table}.MustRegister(count)
	told := func() int {
		n, err := testutil.GatherAndCount(reg, "n")
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := told(); n != 6 {
		t.Errorf("%d series, want 6", n)
	}
	table.held.Store(&held{peers: []Peer{{ID: 1, Name: "a"}}})
	count.WithLabelValues("b", "late").Inc()
	if n := told(); n != 4 {
		t.Errorf("%d series without b, want 4", n)
	}
	if n := testutil.CollectAndCount(count); n != 4 {
		t.Errorf("%d series are remembered, want 4", n)
	}
}
