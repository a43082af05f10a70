package e2e

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// Agents that share every value the order looks at, and pages that are cut
// between them. The walks go on while agents are registered again.
func TestPagesHoldEveryAgentOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	hub := stage.HubInside(t, func(c *app.Config) { c.DatabaseURL = database })
	agents := twins(t, &hub.Hub, database)

	t.Run("nobody writes", func(t *testing.T) {
		checkWalk(t, &hub.Hub, agents)
	})
	t.Run("one writer registers agents again", func(t *testing.T) {
		written, stop := writer(t, agents)
		walks := 0
		for deadline := time.Now().Add(stage.Patience); walks < 20 || written.Load() < 40; walks++ {
			checkWalk(t, &hub.Hub, agents)
			if t.Failed() || time.Now().After(deadline) {
				break
			}
		}
		stop()
		t.Logf("%d walks over %d registrations", walks, written.Load())
	})
}

// twins are thirty agents that serve x.y and were registered in one moment.
func twins(t *testing.T, hub *stage.Hub, database string) []*stage.Agent {
	t.Helper()
	agents := make([]*stage.Agent, 30)
	for i := range agents {
		agents[i] = stage.NewAgent(t, hub)
		agents[i].Register("x.y")
	}
	conn, err := pgx.Connect(t.Context(), database)
	stage.Must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `
		WITH moment AS (SELECT min(registered_at) AS m FROM agent),
		     one AS (UPDATE agent SET registered_at = m FROM moment)
		UPDATE agent_cap SET registered_at = m FROM moment`)
	stage.Must(t, err)
	return agents
}

// writer changes what agents say of themselves, at random, until it is stopped.
func writer(t *testing.T, agents []*stage.Agent) (written *atomic.Int64, stop func()) {
	written = &atomic.Int64{}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			case <-time.After(5 * time.Millisecond):
			}
			a := agents[rand.IntN(len(agents))]
			body := a.Registration("x.y", "x.z", "other."+string(rune('a'+rand.IntN(26))))
			body.Caps = body.Caps[:1+rand.IntN(3)]
			answer, err := a.Try(wire.ActionRegister, "/register", body)
			if err != nil || answer.Status != 200 && answer.Status != 429 {
				t.Errorf("registering again: %v %v", answer, err)
				return
			}
			written.Add(1)
		}
	}()
	return written, func() { close(quit); <-ended }
}

// checkWalk goes through all pages: everybody who is there all the time is
// shown once.
func checkWalk(t *testing.T, hub *stage.Hub, agents []*stage.Agent) {
	t.Helper()
	for _, question := range []string{"cap=x.y", "cap=x.*", "cap=*"} {
		seen := walk(t, hub, question+"&limit=7")
		slices.Sort(seen)
		want := make([]string, len(agents))
		for i, a := range agents {
			want[i] = a.AID()
		}
		slices.Sort(want)
		if !slices.Equal(seen, want) {
			t.Errorf("%s: the walk shows %d agents, %d of them different, want each of %d once",
				question, len(seen), len(slices.Compact(slices.Clone(seen))), len(want))
		}
	}
}

func walk(t *testing.T, hub *stage.Hub, question string) (seen []string) {
	t.Helper()
	for cursor := ""; ; {
		var page wire.Agents
		hub.Get(t, "/agents?"+question+"&cursor="+url.QueryEscape(cursor)).Ask(t, &page)
		for _, a := range page.Agents {
			seen = append(seen, a.AID)
		}
		if cursor = page.NextCursor; cursor == "" {
			return seen
		}
		if len(seen) > 1000 {
			t.Fatalf("%s: a walk without an end", question)
		}
	}
}
