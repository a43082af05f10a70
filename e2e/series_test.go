package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// Whatever strangers ask for, the metrics stay as many, and none of it is
// a label.
func TestMetricsDoNotGrowWithStrangers(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	agent := stage.NewAgent(t, hub.Hub)
	agent.Register("text.digest")
	everyRoute(t, hub.Hub)
	before := stage.Series(t, hub.Hub)

	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() { scan(t, hub.Hub, worker, 2500) })
	}
	all.Wait()

	after := stage.Series(t, hub.Hub)
	var grown []string
	for name := range maps.Keys(after) {
		if _, there := before[name]; !there {
			grown = append(grown, name)
		}
	}
	slices.Sort(grown)
	if len(grown) > 50 {
		t.Errorf("20,000 requests made %d series out of %d, among them %q", len(after), len(before), grown[:10])
	}
	for name := range maps.Keys(after) {
		if strings.Contains(name, "stray") || strings.Contains(name, agent.AID()) || strings.Contains(name, "FOO") || strings.Contains(name, "text.digest") {
			t.Errorf("a stranger's words are a label: %s", name)
		}
	}
	if after[`anet_hub_http_requests_total{class="4xx",method="GET",route="unmatched"}`] < 1000 {
		t.Error("requests of no route are not counted under one label")
	}
}

// everyRoute asks for what an ordinary day asks for, so that its series are there.
func everyRoute(t *testing.T, hub *stage.Hub) {
	for _, path := range []string{"/", "/healthz", "/agents?cap=a", "/agents?cap=", "/agents/x", "/a2a/v1/agents", "/agents/x/kel", "/stats"} {
		hub.Get(t, path)
	}
}

// scan asks for random things, as scanners do.
func scan(t *testing.T, hub *stage.Hub, worker, n int) {
	client := stage.NewClient(t)
	dice := rand.New(rand.NewPCG(1, uint64(worker)))
	for range n {
		word := fmt.Sprintf("stray%d", dice.Uint32())
		method, path := http.MethodGet, "/"+word
		switch dice.IntN(6) {
		case 0:
			method = fmt.Sprintf("FOO%d", dice.Uint32())
		case 1:
			path = "/agents/" + word
		case 2:
			path = "/agents?cap=" + word
		case 3:
			path = "/agents/" + word + "/" + word
		case 4:
			method, path = fmt.Sprintf("FOO%d", dice.IntN(50)), "/agents?q="+word
		}
		r, err := http.NewRequest(method, hub.URL+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("X-Stray-"+word, word)
		answer, err := stage.Send(client, r)
		if err != nil || answer.Status >= 500 {
			t.Errorf("%s %s: %v %v", method, path, answer, err)
			return
		}
	}
}
