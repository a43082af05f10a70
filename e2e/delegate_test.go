package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/testkit/need"
	"github.com/anet-hub/anet/shared/wire"
)

// textService runs the example program and gives the address of its socket.
func textService(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(need.SocketDir(t), "text.sock")
	p := stage.Start(t, stage.Command{Name: "text-service", Path: stage.Binary(t, "text-service"), Args: []string{"--socket", socket}})
	stage.Until(t, stage.Patience, "the program listens", func() bool { return strings.Contains(p.Log(), "listening") })
	return "unix://" + socket
}

// desk serves digests and word counts to everybody.
func desk(t *testing.T) stage.NodeConfig {
	url := textService(t)
	return stage.NodeConfig{
		Name: "desk", Public: []any{"text.digest", "text.wordcount"}, Tags: []string{"hash"},
		Programs: map[string]string{"text.digest": url, "text.wordcount": url},
	}
}

// The main job: join, find by capability, call, and hold a verified receipt.
func TestJoinFindDelegateReceipt(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--public-url", "https://hub.example.org"}})
	provider := stage.StartNode(t, hub.Hub, desk(t))
	caller := stage.StartNode(t, hub.Hub, stage.NodeConfig{Name: "caller"})

	t.Run("anybody finds it with curl", func(t *testing.T) {
		var found wire.Agents
		hub.Get(t, "/agents?cap=text.*").Ask(t, &found)
		if len(found.Agents) != 1 || found.Agents[0].AID != provider.AID {
			t.Fatalf("found %+v, want the desk", found.Agents)
		}
		if got := strings.Join(found.Agents[0].Caps, " "); got != "hash text.digest text.wordcount" {
			t.Errorf("caps %q, want the two public ones and the tag", got)
		}
		if got := strings.Join(found.Agents[0].Tags, " "); got != "hash" {
			t.Errorf("tags %q, want what no card vouches for", got)
		}
	})
	t.Run("a node finds it, and its card is verified", func(t *testing.T) {
		var found struct {
			Agents []struct {
				AID string `json:"aid"`
			} `json:"agents"`
		}
		caller.JSON(&found, "find", "--cap", "text.digest")
		if len(found.Agents) != 1 || found.Agents[0].AID != provider.AID {
			t.Fatalf("found %+v, want the desk", found.Agents)
		}
		var card struct {
			Verified bool `json:"verified"`
		}
		if code := caller.JSON(&card, "card", provider.AID); code != 0 || !card.Verified {
			t.Errorf("exit %d, verified %v, want 0 and true", code, card.Verified)
		}
	})
	t.Run("a call gives the effect and a verified receipt", func(t *testing.T) {
		start := time.Now()
		task, code := caller.Call(provider.AID, "text.digest", `{"text":"hello"}`)
		if code != 0 || stage.Outcome(task) != "completed OK verified" {
			t.Fatalf("exit %d, %s, want 0, completed OK verified", code, stage.Outcome(task))
		}
		t.Logf("the call took %s", time.Since(start))
		sum := sha256.Sum256([]byte("hello"))
		if got, want := digestOf(t, task), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
		if theirs := provider.Ended(task.ID); theirs.ResultCID != task.ResultCID || theirs.RequestCID != task.RequestCID || task.ResultCID == "" {
			t.Errorf("the two sides speak of different things: %+v, %+v", theirs, task)
		}
	})
	t.Run("both say what they serve and what is listed", func(t *testing.T) {
		for _, n := range []*stage.Node{provider, caller} {
			if out := n.Run("status"); out.Code != 0 {
				t.Errorf("%s: %s", n.Name, out)
			}
		}
	})
}

// digestOf reads what the example program says it did.
func digestOf(t *testing.T, task app.Task) string {
	t.Helper()
	d, err := effect.Parse(task.Deliverable)
	stage.Must(t, err)
	var evidence struct {
		Observed json.RawMessage `json:"observed_state"`
	}
	raw, err := json.Marshal(d.Evidence)
	stage.Must(t, err)
	stage.Must(t, json.Unmarshal(raw, &evidence))
	return strings.Trim(string(evidence.Observed), `"`)
}

// A call of what the program does not do, or does not answer, ends with a
// status that says so, and the exit code with it.
func TestEffectsAreToldApart(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	answers := map[string]func(w http.ResponseWriter){
		"p.ok":      func(w http.ResponseWriter) { w.Write([]byte(`{"n":1}`)) },
		"p.maybe":   func(w http.ResponseWriter) { w.WriteHeader(202) },
		"p.refused": func(w http.ResponseWriter) { w.WriteHeader(422); w.Write([]byte(`{"error":"no such lamp"}`)) },
		"p.busy":    func(w http.ResponseWriter) { w.Header().Set("Retry-After", "7"); w.WriteHeader(429) },
		"p.broken":  func(w http.ResponseWriter) { w.WriteHeader(500) },
	}
	program := stage.StartProgram(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		answers[r.Header.Get("X-ANet-Capability")](w)
	})
	c := stage.NodeConfig{Name: "provider", Programs: map[string]string{}}
	for id := range answers {
		c.Public, c.Programs[id] = append(c.Public, id), program.URL
	}
	provider := stage.StartNode(t, &hub.Hub, c)
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	for _, tt := range []struct {
		id   string
		want string
		code int
	}{
		{"p.ok", "completed OK verified", 0},
		{"p.maybe", "completed UNVERIFIED accepted verified", 6},
		{"p.refused", "failed FAILED refused_by_service verified", 5},
		{"p.busy", "rejected UNAVAILABLE unavailable verified", 4},
		{"p.broken", "completed UNVERIFIED service_error verified", 6},
	} {
		task, code := caller.Call(provider.AID, tt.id, `{}`)
		if got := stage.Outcome(task); got != tt.want || code != tt.code {
			t.Errorf("%s: exit %d, %s, want %d, %s", tt.id, code, got, tt.code, tt.want)
		}
		if tt.id == "p.busy" && task.RetryAfterMS != 7000 {
			t.Errorf("%s: retry after %d ms, want 7000", tt.id, task.RetryAfterMS)
		}
	}
}
