package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
	"github.com/anet-hub/anet/shared/wire"
)

// taughtTables are what a hub writes of agents that a peer tells of.
var taughtTables = []string{"known_elsewhere", "learned", "agent_cap", "agent_card_tag"}

// syncing compares the first reading of all that a peer tells with a bare copy of
// the rows that come of it, indexes included.
func syncing(t testing.TB, o options) []Row {
	teacher, _ := newFederated(t, o)
	h := stage.StartHub(t, stage.HubConfig{Args: append([]string{"--peer-allow-range", "127.0.0.0/8"}, freely...)})
	database, err := bench.DatabaseURL(h.Config.DataDir)
	stage.Must(t, err)
	began := time.Now()
	stage.AddPeer(t, h, "teacher", teacher.URL)
	for n := int64(0); n < int64(o.Federated); time.Sleep(100 * time.Millisecond) {
		var stats wire.Stats
		h.Get(t, "/stats").Ask(t, &stats)
		if n = stats.FederatedAgents; time.Since(began) > 20*time.Minute {
			t.Fatalf("%d of %d agents are learned after %s", n, o.Federated, time.Since(began))
		}
	}
	took := time.Since(began).Seconds()
	say("  learned %d agents in %.1f s", o.Federated, took)
	conns := connect(t, database, 2)
	var bare, ratio sample
	for range o.Rounds {
		bare = append(bare, copyRows(t, conns))
		ratio = append(ratio, bare[len(bare)-1]/took)
		say("  a bare copy takes %.1f s", bare[len(bare)-1])
	}
	return []Row{{What: fmt.Sprintf("first synchronisation of %d agents, to a bare copy of the rows", o.Federated),
		Measured: ratio.with("%.2f"), Target: "≥ 0.1", Pass: ratio.median() >= 0.1,
		Note: fmt.Sprintf("%.1f s: %.0f agents/s with all signatures checked, both hubs on this machine; %s s by COPY from table to table with the same indexes",
			took, float64(o.Federated)/took, bare)}}
}

// copyRows copies the tables into empty ones like them, and gives the seconds.
func copyRows(t testing.TB, conns []*pgx.Conn) float64 {
	t.Helper()
	for _, table := range taughtTables {
		_, err := conns[0].Exec(t.Context(), fmt.Sprintf(`DROP TABLE IF EXISTS bare_%[1]s; CREATE TABLE bare_%[1]s (LIKE %[1]s INCLUDING ALL)`, table))
		stage.Must(t, err)
	}
	began := time.Now()
	for _, table := range taughtTables {
		from, to := io.Pipe()
		go func() {
			_, err := conns[0].PgConn().CopyTo(t.Context(), to, `COPY `+table+` TO STDOUT (FORMAT binary)`)
			_ = to.CloseWithError(err)
		}()
		_, err := conns[1].PgConn().CopyFrom(t.Context(), from, `COPY bare_`+table+` FROM STDIN (FORMAT binary)`)
		stage.Must(t, err)
	}
	return time.Since(began).Seconds()
}
