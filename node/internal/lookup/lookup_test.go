package lookup

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// hub tells one card and one history of everybody.
type hub struct {
	agents wire.Agents
	card   []byte
	kel    []byte
	said   *wire.ReviewSource // nil at a hub without reviews
}

func (h hub) directory(t *testing.T) Directory {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set(wire.HeaderVersion, "2")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /agents", func(w http.ResponseWriter, _ *http.Request) { answer(w, h.agents) })
	mux.HandleFunc("POST /agents/kel:lookup", func(w http.ResponseWriter, _ *http.Request) { answer(w, wire.KEL{KEL: h.kel}) })
	mux.HandleFunc("POST /a2a/v1/agents/card:lookup", func(w http.ResponseWriter, _ *http.Request) {
		if h.card == nil {
			w.WriteHeader(http.StatusNotFound)
			answer(w, wire.Problem{Error: "no such card"})
			return
		}
		w.Write(h.card)
	})
	mux.HandleFunc("POST /agents/reputation:lookup", func(w http.ResponseWriter, _ *http.Request) {
		if h.said == nil {
			w.WriteHeader(http.StatusNotFound)
			answer(w, wire.Problem{Error: "no such route"})
			return
		}
		answer(w, wire.ReputationPage{Reputation: wire.Reputation{Combined: *h.said}})
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c, err := hubclient.New(hubclient.Options{Hub: hubclient.Pin{URL: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Directory{Hub: c, Now: func() time.Time { return now }}
}

func controller(t *testing.T) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func signedCard(t *testing.T, c *identity.Controller) []byte {
	t.Helper()
	raw, err := card.Publish(c, card.Profile{
		AID: c.AID(), Name: "digester", HubURL: "https://hub.example.org",
		Skills: []card.Skill{{ID: "text.digest", Name: "Digest", Description: "Digests.", Tags: []string{"text"}}},
	}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestACardIsWhatItsSignerSays(t *testing.T) {
	mine, other := controller(t), controller(t)
	good := signedCard(t, mine)
	tests := []struct {
		name string
		hub  hub
		aid  string
		code card.Code
	}{
		{"signed by the agent", hub{card: good, kel: mine.KEL()}, mine.AID(), ""},
		{"another agent's card", hub{card: good, kel: mine.KEL()}, other.AID(), card.BindingMismatch},
		{"a changed word", hub{card: []byte(strings.Replace(string(good), "Digests.", "Deletes.", 1)), kel: mine.KEL()}, mine.AID(), card.InvalidSignature},
		{"no JSON", hub{card: []byte("<html>"), kel: mine.KEL()}, mine.AID(), card.MalformedJSON},
	}
	for _, tt := range tests {
		got, err := tt.hub.directory(t).Card(t.Context(), tt.aid)
		if err != nil || got.Code != string(tt.code) || got.Verified != (tt.code == "") {
			t.Errorf("%s: %+v, %v; want code %q", tt.name, got, err, tt.code)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: cannot be shown: %v", tt.name, err)
		}
	}
}

func TestACardComesWithWhatIsSaidOfItsAgent(t *testing.T) {
	c := controller(t)
	got, err := hub{card: signedCard(t, c), kel: c.KEL(), said: &wire.ReviewSource{Reviews: 3, AvgRating: 4.5}}.directory(t).Card(t.Context(), c.AID())
	if err != nil || got.Rating != 4.5 || got.Reviews != 3 {
		t.Errorf("%+v, %v, want 4.5 of three", got, err)
	}
}

func TestNoCardAndNoAID(t *testing.T) {
	d := hub{}.directory(t)
	if _, err := d.Card(t.Context(), controller(t).AID()); !errs.Is(err, "card_unknown") {
		t.Errorf("an agent without a card: %v", err)
	}
	if _, err := d.Card(t.Context(), "digester"); !errs.Is(err, "aid_not_full") {
		t.Errorf("a name for an AID: %v", err)
	}
}

func TestFindTellsTagsApart(t *testing.T) {
	seen := now.Add(-time.Hour)
	d := hub{agents: wire.Agents{NextCursor: "n", Agents: []wire.Agent{
		{AID: "a", Name: "one", Caps: []string{"go", "text.digest"}, Tags: []string{"go"}, LastSeen: &seen, Quiet: true},
		{AID: "b", HomeHub: "https://other.example.org"},
	}}}.directory(t)
	got, err := d.Find(t.Context(), node.FindQuery{Cap: "*"})
	want := node.Found{NextCursor: "n", Agents: []node.Agent{
		{AID: "a", Name: "one", Capabilities: []string{"go", "text.digest"}, Tags: []string{"go"}, LastSeen: "2026-03-04T04:06:07Z", Quiet: true},
		{AID: "b", Capabilities: []string{}, HomeHub: "https://other.example.org"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Find = %+v, %v; want %+v", got, err, want)
	}
}
