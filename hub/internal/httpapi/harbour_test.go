package httpapi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// neighbours is a table of peers that a test fills.
type neighbours struct {
	mu   sync.Mutex
	list []peers.Peer
	off  bool
}

func (n *neighbours) add(c *identity.Controller, change func(*peers.Peer)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := peers.Peer{ID: int64(len(n.list) + 1), AID: c.AID(), Name: fmt.Sprintf("peer-%d", len(n.list)), Delivery: true, KEL: c.KEL()}
	change(&p)
	n.list = append(n.list, p)
}

func (n *neighbours) All() []peers.Peer { n.mu.Lock(); defer n.mu.Unlock(); return n.list }

func (n *neighbours) DeliveryOn() bool { return !n.off }

func (n *neighbours) ByAID(aid string) (peers.Peer, bool) {
	for _, p := range n.All() {
		if p.AID == aid {
			return p, true
		}
	}
	return peers.Peer{}, false
}

// harbour is a hub that peers bring mail to.
type harbour struct {
	*post
	peers *neighbours
	from  *identity.Controller // a peer with delivery
	to    *identity.Controller // an agent registered here
	fed   *Federation
}

func wholly(*peers.Peer) {}

func newHarbour(t *testing.T) *harbour {
	t.Helper()
	h := &harbour{peers: &neighbours{}, from: newController(t), to: newController(t)}
	h.post = newPost(t, pgtest.URL(t), newController(t), h.to)
	h.peers.add(h.from, wholly)
	proofs := postgres.NewReplay(h.db, replay.BoundsFor(20, 200), time.Now, slog.New(slog.DiscardHandler))
	store := postgres.NewForwards(h.db)
	h.fed = &Federation{
		Receiver: forward.NewReceiver(forward.Inlet{
			Gate: &forward.Gate{Table: h.peers, Replay: identity.Replay}, Key: h.post,
			Store: store, Mail: h.post.mail, Limits: h.post.mail.Limits,
			Rate: admission.NewLimiter(60_000, 1000, "forward_rate", time.Now), Metrics: forward.NewMetrics(prometheus.NewRegistry()),
			Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}),
		Keys: &forward.KeyDesk{Replays: proofs, Agents: store}, Memory: budget.New(64 << 20),
	}
	h.serve(proofs, h.fed)
	return h
}

// sealedFor is an envelope like no other.
func (h *harbour) sealedFor(to string) []byte {
	return envelope.Outer{To: to, Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: []byte(fmt.Sprint("sealed", h.next()))}.Bytes()
}

// bring posts a body as it is.
func (h *harbour) bring(body string) (int, string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.srv.URL+"/fed/v1/forward", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	return h.do(r)
}

// signed is a forward that everything is right with but for what is changed; the
// signature covers the change unless it is removed by it.
func (h *harbour) signed(from *identity.Controller, payload []byte, change func(*wire.Forward)) string {
	h.t.Helper()
	f := forward.Sign(from, h.to.AID(), payload, time.Now())
	if change(&f); f.Sig != nil {
		f.Sig = from.Sign(forward.Preimage(f))
	}
	body, err := json.Marshal(f)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(body)
}

func unchanged(*wire.Forward) {}

func problem(t *testing.T, answer string) wire.FedProblem {
	t.Helper()
	p := read[wire.FedProblem](t, answer)
	if p.Detail == "" {
		t.Errorf("no words in %s", answer)
	}
	return p
}

// askKeys asks as a peer does, with something changed after the signature.
func (h *harbour) askKeys(as *identity.Controller, aid string, change func(*http.Request)) (int, string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.srv.URL+"/fed/v2/keys/"+aid, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	relayauth.Sign(as, wire.ActionFedKeys, h.hub.AID(), r, nil, h.next())
	change(r)
	return h.do(r)
}

// sealedOf is an envelope with so many bytes in it.
func (h *harbour) sealedOf(n int) []byte {
	return envelope.Outer{To: h.to.AID(), Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: make([]byte, n)}.Bytes()
}
