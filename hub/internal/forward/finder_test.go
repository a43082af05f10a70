package forward

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Keys answers with what the peer has.
func (l *library) Keys(ctx context.Context, p peers.Peer, aid string) (wire.FedKeys, error) {
	if err := l.ask(ctx, p); err != nil {
		return wire.FedKeys{}, err
	}
	return l.keys[p.Name], nil
}

// library is a world whose peers have keys.
type library struct {
	world
	keys  map[string]wire.FedKeys
	local bool
	err   error
}

func (l *library) Local(context.Context, string, time.Time) (bool, error) { return l.local, l.err }

func newFinder(list *table, l *library) *Finder {
	return NewFinder(Search{
		Table: list, Circuits: peers.NewCircuits(time.Now), Carrier: l, Locals: l,
		Rate: admission.NewLimiter(0.01, 2, "keys_lookup_rate", time.Now), Now: time.Now,
	})
}

// Checklist 49: an answer is verified for the AID that is wanted, and what does not
// verify is no answer.
func TestFind(t *testing.T) {
	agent, other := directorytest.NewNode(t, time.Now()), directorytest.NewNode(t, time.Now())
	good := wire.FedKeys{Keyset: agent.Keyset(time.Now(), false), KEL: agent.Key.KEL()}
	foreign := wire.FedKeys{Keyset: other.Keyset(time.Now(), false), KEL: other.Key.KEL()}
	mixed := wire.FedKeys{Keyset: good.Keyset, KEL: foreign.KEL}
	for _, tt := range []struct {
		name   string
		does   func(context.Context) error // peer a
		has    wire.FedKeys
		then   func(context.Context) error // peer b, which has the keys
		reason string
	}{
		{"the first has them", takes, good, takes, ""},
		{"the second has them", knows, good, takes, ""},
		{"the first has another's", takes, foreign, takes, ""},
		{"the first has another's history", takes, mixed, takes, ""},
		{"the first has nothing", takes, wire.FedKeys{}, takes, ""},
		{"the first fails", broken, good, takes, ""},
		{"nobody has them", knows, good, knows, "keys_unknown"},
		{"one fails, the other has none", broken, good, knows, "peers_failed"},
		{"one lies, the other has none", takes, foreign, knows, "peers_failed"},
	} {
		l := &library{world: world{does: map[string]func(context.Context) error{"a": tt.does, "b": tt.then}},
			keys: map[string]wire.FedKeys{"a": tt.has, "b": good}}
		keyset, kel, err := newFinder(tableOf("a", "b"), l).Keys(t.Context(), agent.AID(), "address")
		if reasonOf(err) != tt.reason {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.reason)
		}
		if found := slices.Equal(keyset, good.Keyset) && slices.Equal(kel, good.KEL); found != (tt.reason == "") {
			t.Errorf("%s: %d and %d bytes", tt.name, len(keyset), len(kel))
		}
	}
}

// Peers are asked for AIDs that may be theirs alone, and an address asks so often
// only.
func TestFindAsksWithReason(t *testing.T) {
	aid := newHub(t).AID()
	l := &library{world: world{does: map[string]func(context.Context) error{"a": knows}}}
	f := newFinder(tableOf("a"), l)
	ask := func(aid, address string) string {
		_, _, err := f.Keys(t.Context(), aid, address)
		return reasonOf(err)
	}
	if got := ask("nobody", "x"); got != "keys_unknown" || len(l.calls()) != 0 {
		t.Errorf("no AID: %s", got)
	}
	l.local = true
	if got := ask(aid, "x"); got != "keys_unknown" || len(l.calls()) != 0 {
		t.Errorf("a local one: %s", got)
	}
	l.local, l.err = false, errors.New("away")
	if got := ask(aid, "x"); got != "away" || len(l.calls()) != 0 {
		t.Errorf("without a database: %s", got)
	}
	l.err = nil
	for i, want := range []string{"keys_unknown", "keys_unknown", "keys_lookup_rate"} {
		if got := ask(aid, "x"); got != want {
			t.Errorf("question %d: %s, want %s", i, got, want)
		}
	}
	if got := ask(aid, "y"); got != "keys_unknown" || len(l.calls()) != 3 {
		t.Errorf("another address: %s", got)
	}
	f = newFinder(&table{}, l)
	if _, _, err := f.Keys(t.Context(), aid, "x"); errs.KindOf(err) != errs.NotFound || f.Rate.Quota("x").Left != 2 {
		t.Errorf("without peers: %v, and %d left", err, f.Rate.Quota("x").Left)
	}
}
