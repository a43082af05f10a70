package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// neighbour is a peer that answers well, where a test does not spoil it.
type neighbour struct {
	key    *identity.Controller
	says   *identity.Controller // who answers as it
	away   error
	own    *identity.Controller // who answers at the hub's own address
	hidden error
	keys   int // statuses of its answers
	stream int
	older  int
	ahead  time.Duration
	asked  []string
	claim  relayauth.Claim
}

func (n *neighbour) Identity(_ context.Context, endpoint string) (wire.Identity, error) {
	if endpoint == "https://example.com" {
		return wire.Identity{AID: n.own.AID(), KEL: n.own.KEL()}, n.hidden
	}
	return wire.Identity{AID: n.says.AID(), KEL: n.says.KEL()}, n.away
}

func (n *neighbour) Do(_ context.Context, r *http.Request, _ int64) (int, http.Header, []byte, error) {
	n.asked = append(n.asked, r.URL.RequestURI())
	h := http.Header{"Date": {time.Now().Add(n.ahead).UTC().Format(http.TimeFormat)}}
	switch {
	case strings.HasPrefix(r.URL.Path, "/fed/v2/keys/"):
		n.claim, _ = relayauth.ParseHeaders(r.Header)
		return n.keys, h, nil, nil
	case strings.HasPrefix(r.URL.Path, "/fed/v2/cards"):
		return n.stream, h, nil, nil
	case strings.HasPrefix(r.URL.Path, "/fed/v1/cards"):
		return n.older, h, nil, nil
	}
	return http.StatusOK, h, nil, nil
}

// beside is a healthy hub with one healthy peer.
func beside(t *testing.T) (*healthy, *neighbour) {
	h, key := newHealthy(t), other(t)
	n := &neighbour{key: key, says: key, own: h.Inside.Key, keys: http.StatusNotFound, stream: http.StatusOK, older: http.StatusNotFound}
	h.Net = n
	h.Inside.Peers = []peers.Standing{{Peer: peers.Peer{
		ID: 1, AID: key.AID(), Endpoint: "https://labs.example", Name: "labs", Delivery: true, Discovery: true}}}
	return h, n
}

func TestAHealthyPeer(t *testing.T) {
	h, n := beside(t)
	got := h.Examine(t.Context())
	if got.Findings() != 0 || !strings.Contains(words(got), "labs proves who it is, agrees about the time, takes mail of this hub, tells of its agents") {
		t.Errorf("found %s", words(got))
	}
	// What it is asked is signed as this hub, for it alone, and about nobody else.
	self := h.Inside.Key
	target := "/fed/v2/keys/" + self.AID()
	if err := n.claim.Verify(self.KEL(), identity.Replay, wire.ActionFedKeys, n.key.AID(), "GET", target, nil); err != nil {
		t.Errorf("the question for keys: %v", err)
	}
}

func TestPeersAreFoundOut(t *testing.T) {
	tests := []struct {
		name       string
		spoil      func(*healthy, *neighbour)
		says, next string
	}{
		{"away", func(_ *healthy, n *neighbour) { n.away = errs.New(errs.BadGateway, "peer_unreachable", "refused") }, "does not prove", "curl https://labs.example/hub/identity"},
		{"inside", func(_ *healthy, n *neighbour) { n.away = errs.New(errs.BadGateway, "address_refused", "no") }, "does not prove", "--peer-allow-range"},
		{"another hub", func(_ *healthy, n *neighbour) { n.says = other(t) }, "another hub answers there", "another AID"},
		{"a clock", func(_ *healthy, n *neighbour) { n.ahead = -time.Hour - 30*time.Second }, "clock that is 1h0m", "NTP"},
		{"not entered there", func(_ *healthy, n *neighbour) { n.keys = 403 }, "takes nothing from this hub", "anet-hub peer add https://example.com"},
		{"an old key", func(_ *healthy, n *neighbour) { n.keys = 401 }, "refuses this hub's signature", "five minutes"},
		{"out of its sight", func(_ *healthy, n *neighbour) { n.keys = 502 }, "cannot make sure who this hub is", "curl https://example.com/hub/identity"},
		{"busy", func(_ *healthy, n *neighbour) { n.keys = 503 }, "status 503", "wait"},
		{"it tells nothing", func(_ *healthy, n *neighbour) { n.stream = 403 }, "tells nothing of its agents", "--federation-discovery on"},
		{"no stream", func(_ *healthy, n *neighbour) { n.stream = 404 }, "status 404", "operator"},
	}
	for _, tt := range tests {
		h, n := beside(t)
		tt.spoil(h, n)
		got := h.Examine(t.Context())
		found := false
		for _, r := range got {
			found = found || r.Check == "peers" && r.Status == checkup.Finding && r.Why != "" &&
				strings.HasPrefix(r.Message, "labs ") && strings.Contains(r.Message, tt.says) && strings.Contains(r.Next, tt.next)
		}
		if !found || got.Findings() != 1 {
			t.Errorf("%s: want %q and %q, found %s", tt.name, tt.says, tt.next, words(got))
		}
	}
}

// A command that was not told of the hub's ranges finds nothing wrong with a peer
// that answers the hub.
func TestAPeerThatTheHubMayCall(t *testing.T) {
	for name, tt := range map[string]struct {
		answered, refused time.Duration // ago
		findings          int
	}{
		"it answered":              {time.Minute, 0, 0},
		"it answered since":        {time.Minute, time.Hour, 0},
		"it has not for long":      {time.Hour, 0, 1},
		"the hub is kept off, too": {time.Minute, time.Second, 1},
	} {
		h, n := beside(t)
		n.away = errs.New(errs.BadGateway, "address_refused", "no")
		s := &h.Inside.Peers[0]
		if s.LastSuccess = h.Now().Add(-tt.answered); tt.refused > 0 {
			s.LastRefused = h.Now().Add(-tt.refused)
		}
		got := h.Examine(t.Context())
		told := strings.Contains(words(got), "labs answers the hub") && strings.Contains(words(got), "--peer-allow-range")
		if got.Findings() != tt.findings || told != (tt.findings == 0) {
			t.Errorf("%s: %d findings, want %d: %s", name, got.Findings(), tt.findings, words(got))
		}
	}
}

// The hub itself is come to as a peer comes to it.
func TestTheAddressThatPeersCall(t *testing.T) {
	for says, spoil := range map[string]func(*neighbour){
		"is called by no peer":  func(n *neighbour) { n.hidden = errs.New(errs.BadGateway, "address_refused", "no") },
		"leads nowhere":         func(n *neighbour) { n.hidden = errs.New(errs.BadGateway, "peer_unreachable", "no") },
		"another hub answers: ": func(n *neighbour) { n.own = other(t) },
	} {
		h, n := beside(t)
		spoil(n)
		if got := h.Examine(t.Context()); got.Findings() != 1 || !has(got, "peers", says) {
			t.Errorf("%s: found %s", says, words(got))
		}
	}
}

func TestPeersOfAHubWithoutAnAddress(t *testing.T) {
	for says, public := range map[string]string{
		"no public URL":               "",
		"is one of this machine only": "http://127.0.0.1:8088",
	} {
		h, _ := beside(t)
		hub := h.answer
		h.answer = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/hub/identity" {
				hub(w, r)
				return
			}
			w.Header().Set(wire.HeaderRequest, "x")
			fmt.Fprintf(w, `{"aid":%q,"public_url":%q}`, h.Inside.Key.AID(), public)
		}
		if got := h.Examine(t.Context()); !has(got, "peers", says) {
			t.Errorf("%q: found %s", public, words(got))
		}
	}
}

func TestPeersThatAreNotAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*healthy, *neighbour)
		asked int
	}{
		"paused":                {func(h *healthy, _ *neighbour) { h.Inside.Peers[0].Paused = true }, 0},
		"from elsewhere":        {func(h *healthy, _ *neighbour) { h.Inside = Inside{None: true} }, 0},
		"none":                  {func(h *healthy, _ *neighbour) { h.Inside.Peers = nil }, 0},
		"for its agents alone":  {func(h *healthy, _ *neighbour) { h.Inside.Peers[0].Delivery = false }, 2},
		"for its mail alone":    {func(h *healthy, _ *neighbour) { h.Inside.Peers[0].Discovery = false }, 2},
		"with the older stream": {func(_ *healthy, n *neighbour) { n.stream, n.older = 404, 200 }, 4},
	} {
		h, n := beside(t)
		tt.spoil(h, n)
		if got := h.Examine(t.Context()); got.Findings() != 0 || len(n.asked) != tt.asked {
			t.Errorf("%s: asked %q, found %s", name, n.asked, words(got))
		}
	}
}
