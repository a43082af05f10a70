package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/wire"
)

// discovery is whether a hub tells its peers anything.
type discovery struct{ on bool }

func (p *discovery) DiscoveryOn() bool { return p.on }

// numbered gives entries their numbers.
func (w *town) numbered() {
	w.t.Helper()
	n := feed.NewNumberer(postgres.NewFeed(w.pool), nil, w.clock, slog.New(slog.DiscardHandler))
	if err := n.Catch(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) setVisibility(n *directorytest.Node, v string) {
	w.t.Helper()
	if a := w.call(n, wire.ActionVisibility, "/agents/"+n.AID()+"/visibility", wire.Visibility{Visibility: v}); a.StatusCode != http.StatusOK {
		w.t.Fatalf("%d %s", a.StatusCode, a.raw)
	}
}

func TestStreamsTellNothingWhileDiscoveryIsOff(t *testing.T) {
	w := newTown(t)
	for _, path := range []string{"/fed/v1/cards", "/fed/v2/cards?cursor=0", "/fed/v1/reviews"} {
		a := w.get(path)
		if a.StatusCode != http.StatusForbidden || a.body["error"] != "POLICY_REFUSED" || a.body["detail"] == "" {
			t.Errorf("%s: %d %s, want 403 POLICY_REFUSED", path, a.StatusCode, a.raw)
		}
	}
}

func TestStreamCursors(t *testing.T) {
	w := newTown(t)
	w.discovery.on = true
	for _, path := range []string{"/fed/v1/cards", "/fed/v2/cards", "/fed/v1/reviews"} {
		for cursor, want := range map[string]string{
			"": "0", "?cursor=0": "0", "?cursor=5": "5",
			"?cursor=9223372036854775807": "9223372036854775807", "?cursor=9223372036854775808": "9223372036854775807",
		} {
			a := w.get(path + cursor)
			if a.StatusCode != http.StatusOK || !strings.HasPrefix(string(a.raw), `{"cursor":`+want+`,`) || !strings.HasSuffix(string(a.raw), "[]}\n") {
				t.Errorf("%s%s: %d %s, want nothing behind %s", path, cursor, a.StatusCode, a.raw, want)
			}
		}
		for _, cursor := range []string{"?cursor=", "?cursor=-1", "?cursor=x", "?cursor=%zz"} {
			if a := w.get(path + cursor); a.StatusCode != http.StatusBadRequest || a.body["error"] != "MALFORMED" {
				t.Errorf("%s%s: %d %s, want 400 MALFORMED", path, cursor, a.StatusCode, a.raw)
			}
		}
	}
}

// One address reads so many pages, and is told when there are more for it; others go
// on.
func TestStreamsHaveARate(t *testing.T) {
	w := newTown(t)
	w.discovery.on = true
	page := func(from string) answer {
		r := httptest.NewRequest(http.MethodGet, "/fed/v2/cards", nil)
		r.RemoteAddr = from
		return w.do(r)
	}
	for i := range 100 {
		if a := page("203.0.113.1:1"); a.StatusCode != http.StatusOK {
			t.Fatalf("page %d: %d %s", i, a.StatusCode, a.raw)
		}
	}
	if a := page("203.0.113.1:2"); a.StatusCode != http.StatusTooManyRequests || a.body["error"] != "BUSY" || a.Header.Get("Retry-After") != "1" {
		t.Errorf("one too many: %d %s, after %q", a.StatusCode, a.raw, a.Header.Get("Retry-After"))
	}
	if a := page("203.0.113.2:1"); a.StatusCode != http.StatusOK {
		t.Errorf("somebody else: %d %s", a.StatusCode, a.raw)
	}
	w.advance(time.Second)
	if a := page("203.0.113.1:1"); a.StatusCode != http.StatusOK {
		t.Errorf("a second later: %d %s", a.StatusCode, a.raw)
	}
}

// A whole walk over a stream is page after page of at most its size, nobody twice,
// and every card verifies to who it is about by what stands beside it.
func TestStreamPages(t *testing.T) {
	w := newTown(t)
	w.discovery.on = true
	const agents = 205
	for i := range agents {
		n := w.node(fmt.Sprint("n", i))
		r := n.Register("n")
		r.A2ACard, r.Card = n.Card(1, testNow, "n", "skill"), n.ADPCard(1, testNow)
		w.advance(time.Minute)
		w.mustRegister(n, r)
		w.setVisibility(n, "public")
	}
	w.numbered()
	for path, sizes := range map[string][]int{"/fed/v2/cards": {100, 100, 5, 0}, "/fed/v1/cards": {200, 5, 0}} {
		seen, cursor := map[string]bool{}, "0"
		for i, want := range sizes {
			a := w.get(path + "?cursor=" + cursor)
			list, _ := a.body["cards"].([]any)
			if len(list) != want {
				t.Fatalf("%s: page %d has %d entries, want %d", path, i, len(list), want)
			}
			for _, e := range list {
				e := e.(map[string]any)
				seen[e["kel"].(string)] = true
				if e["home"] != "https://hub.example.org" {
					t.Errorf("%s: home %v", path, e["home"])
				}
			}
			cursor = fmt.Sprintf("%.0f", a.body["cursor"])
		}
		if len(seen) != agents {
			t.Errorf("%s: %d agents, want %d", path, len(seen), agents)
		}
	}
}

// A card is told to the byte, white space and all; the page is what an encoder would
// have made of it.
func TestCardsAreToldAsTheyAre(t *testing.T) {
	page := wire.FedCards{Cursor: 9, Cards: []wire.FedCard{
		{Format: wire.FormatA2ACard, Card: wire.RawJSON("{ \"name\" : \"<\\\"card\\\":null>\"}"), KEL: []byte{1}, Keys: []byte{2}, Home: "https://h/?a&b", FedSeq: 8},
		{Card: wire.RawJSON(`{}`), Home: `"card":null`, FedSeq: 9},
	}}
	for n := range 3 {
		page.Cards = page.Cards[:min(n, 2)]
		want, err := encode(page)
		got, failed := joinCards(page)
		var compact bytes.Buffer
		if err != nil || failed != nil || json.Compact(&compact, got) != nil || !bytes.Equal(compact.Bytes(), bytes.TrimSpace(want)) {
			t.Errorf("%d cards: %s, want %s", n, got, want)
		}
		if n > 0 && !bytes.Contains(got, page.Cards[0].Card) {
			t.Errorf("the card is not what it was: %s", got)
		}
		page.Cards = page.Cards[:2]
	}
}

// Without a configured address, peers are told the one they asked under.
func TestHomeOfAHubWithoutAnAddress(t *testing.T) {
	w := newTown(t)
	w.discovery.on, w.api.PublicURL = true, ""
	n := w.node("n")
	r := n.Register("n")
	r.A2ACard = n.Card(1, testNow, "n", "skill")
	w.mustRegister(n, r)
	w.setVisibility(n, "federated")
	w.numbered()
	list := w.get("http://10.0.0.7:8088/fed/v2/cards").body["cards"].([]any)
	if home := list[0].(map[string]any)["home"]; home != "http://10.0.0.7:8088" {
		t.Errorf("home %v", home)
	}
}
