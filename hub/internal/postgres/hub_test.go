package postgres

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// hub is a directory on a database of its own.
type hub struct {
	*directory.Directory
	t     *testing.T
	pool  *pgxpool.Pool
	store *Directory
	clock *clock
	lives *lives
}

// lives stamps at once, where a hub does it in batches.
type lives struct {
	directory.Lives
	store *Directory
}

func (l *lives) Seen(aid string, at time.Time) {
	_, _ = l.store.Stamp(context.Background(), map[string]time.Time{aid: at})
}

func newHub(t *testing.T) *hub { return newHubWith(t, admission.Door{}) }

func newHubWith(t *testing.T, door admission.Door) *hub {
	t.Helper()
	pool, c := pgtest.New(t), newClock()
	r := newReplay(pool, c)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := NewDirectory(pool, r)
	l := &lives{Lives: directorytest.Usual{}, store: store}
	d := directory.New(store, l, door, identity.Replay, c.now)
	return &hub{Directory: d, t: t, pool: pool, store: store, clock: c, lives: l}
}

func (h *hub) node() *directorytest.Node { return directorytest.NewNode(h.t, h.clock.now()) }

// register registers and lets a second pass, as between two runs of a node.
func (h *hub) register(n *directorytest.Node, r wire.Register) wire.Registered {
	h.t.Helper()
	ans, err := h.tryRegister(n, r)
	if err != nil {
		h.t.Fatal(err)
	}
	return ans
}

func (h *hub) tryRegister(n *directorytest.Node, r wire.Register) (wire.Registered, error) {
	h.clock.advance(time.Second)
	return h.Register(h.t.Context(), n.Apply(r), n.Proof(h.clock.now()))
}

// find asks ?cap= and gives the AIDs.
func (h *hub) find(value string) []string {
	h.t.Helper()
	q, err := directory.AskCap(value)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.list(q, directory.MaxPage)
}

func (h *hub) list(q directory.Question, limit int) (aids []string) {
	h.t.Helper()
	for cursor := ""; ; {
		p, err := h.List(h.t.Context(), q, limit, cursor, plenty)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, v := range viewsOf(h.t, p) {
			aids = append(aids, v.AID)
		}
		if cursor = p.Next; cursor == "" {
			return aids
		}
	}
}

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
