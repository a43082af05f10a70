package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// PostgreSQL's text holds no zero byte, so one that gets through is a
// server's fault made by a client. The same answer for path, query and body.
func TestZeroBytesAreRefused(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	agent := stage.NewAgent(t, &hub.Hub)
	agent.Register("text.digest")

	ask := func(path string) func() stage.Answer {
		return func() stage.Answer { return hub.Get(t, path) }
	}
	register := func(change func(*wire.Register)) func() stage.Answer {
		return func() stage.Answer {
			body := agent.Registration("text.digest")
			change(&body)
			return agent.Do(wire.ActionRegister, "/register", body)
		}
	}
	post := func(path, body string) func() stage.Answer {
		return func() stage.Answer {
			r, err := http.NewRequest(http.MethodPost, hub.URL+path, bytes.NewBufferString(body))
			stage.Must(t, err)
			answer, err := stage.Send(agent.HTTP, r)
			stage.Must(t, err)
			return answer
		}
	}
	for _, tt := range []struct {
		name  string
		ask   func() stage.Answer
		field string
	}{
		{"text search", ask("/agents?q=%00"), "q"},
		{"capability", ask("/agents?cap=a%00*"), "cap"},
		{"cursor", ask("/agents?cap=a&cursor=%00"), "cursor"},
		{"limit", ask("/agents?cap=a&limit=%00"), "limit"},
		{"skill of a card", ask("/a2a/v1/agents?skill=a%00"), "skill"},
		{"tag of a card", ask("/a2a/v1/agents?tag=a%00"), "tag"},
		{"text of cards", ask("/a2a/v1/agents?q=a%00"), "q"},
		{"agent in the path", ask("/agents/a%00b"), "aid"},
		{"key history in the path", ask("/agents/a%00b/kel"), "aid"},
		{"keys in the path", ask("/agents/a%00b/keys"), "aid"},
		{"card in the path", ask("/a2a/v1/agents/a%00b/card"), "aid"},
		{"key look-up", post("/agents/keys:lookup", `{"aid":"a\u0000b"}`), "aid"},
		{"name", register(func(r *wire.Register) { r.Name = "a\x00b" }), "name"},
		{"summary", register(func(r *wire.Register) { r.Summary = "a\x00b" }), "summary"},
		{"readme", register(func(r *wire.Register) { r.Readme = "a\x00b" }), "readme"},
		{"pricing", register(func(r *wire.Register) { r.Pricing = "a\x00b" }), "pricing"},
		{"capability of a registration", register(func(r *wire.Register) { r.Caps = []string{"text.digest", "a\x00b"} }), "caps"},
		{"aid of a registration", register(func(r *wire.Register) { r.AID = "a\x00b" }), "aid"},
		{"recipient", func() stage.Answer {
			return agent.Do(wire.ActionSend, "/relay/send", wire.Send{ToAID: "a\x00b", Envelope: stage.Sealed("a\x00b", 1)})
		}, "to_aid"},
		{"visibility", func() stage.Answer {
			return agent.Do(wire.ActionVisibility, "/agents/"+agent.AID()+"/visibility", wire.Visibility{Visibility: "a\x00b"})
		}, "visibility"},
		{"address", func() stage.Answer {
			return agent.Do(wire.ActionP2P, "/agents/"+agent.AID()+"/p2p", wire.P2P{Addr: "a\x00b"})
		}, "addr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := tt.ask()
			if p := answer.Problem(); answer.Status != http.StatusBadRequest || p.Field != tt.field || p.Code == "" {
				t.Errorf("answer %s, want 400 with a code and the field %s", answer, tt.field)
			}
		})
	}
	t.Run("nothing of it is stored", func(t *testing.T) {
		var page wire.AgentPage
		hub.Get(t, "/agents/"+agent.AID()).Ask(t, &page)
		shown, _ := json.Marshal(page)
		if strings.Contains(string(shown), `\u0000`) {
			t.Errorf("the directory shows %s", shown)
		}
	})
}
