package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
)

// Four processes at once on an empty database. One migrates, the others
// wait and say so, and all are one hub.
func TestFourHubsStartOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	hubs := launchOn(t, pgtest.Empty(t), 4)
	for _, h := range hubs {
		h.Ready(t, stage.Patience)
		if h.AID != hubs[0].AID {
			t.Errorf("%s and %s are two hubs", h.Name, hubs[0].Name)
		}
	}
	steps := 0
	for _, h := range hubs {
		steps += strings.Count(h.Log(), "migrated the database")
	}
	files, err := filepath.Glob("../migrations/[0-9]*.sql")
	stage.Must(t, err)
	if steps != len(files) {
		t.Errorf("%d steps were applied, want each of %d once", steps, len(files))
	}
}

// The one that migrates is killed in the middle of it. A step is held up
// here by a table of that name in a transaction of our own.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	conn, err := pgx.Connect(t.Context(), url)
	stage.Must(t, err)
	defer conn.Close(t.Context())
	inTheWay, err := conn.Begin(t.Context())
	stage.Must(t, err)
	_, err = inTheWay.Exec(t.Context(), `CREATE TABLE message (n int)`)
	stage.Must(t, err)

	hubs := launchOn(t, url, 4)
	var migrating *stage.HubProcess
	stage.Until(t, stage.Patience, "three wait for the fourth, and say so", func() bool {
		waiting := 0
		for _, h := range hubs {
			if strings.Contains(h.Log(), "another process is migrating the database, waiting") {
				waiting++
			} else {
				migrating = h
			}
		}
		return waiting == 3
	})
	migrating.Kill()
	stage.Must(t, inTheWay.Rollback(t.Context()))
	for _, h := range hubs {
		if h != migrating {
			h.Ready(t, stage.Patience)
		}
	}
	migrating.Again(t)
	if other := hubs[0]; migrating.AID != other.AID {
		t.Errorf("the killed one came back as another hub")
	}
}

func launchOn(t *testing.T, url string, n int) []*stage.HubProcess {
	t.Helper()
	hubs := make([]*stage.HubProcess, n)
	for i := range hubs {
		hubs[i] = stage.LaunchHub(t, stage.HubConfig{Name: fmt.Sprintf("hub-%d", i), Database: url})
	}
	return hubs
}

// A program that is older than the schema refuses it, and names both
// versions.
func TestOlderProgramRefusesNewerSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	stage.Must(t, err)
	defer conn.Close(t.Context())
	const newer = 9_999
	_, err = conn.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, newer)
	stage.Must(t, err)

	hub := stage.LaunchHub(t, stage.HubConfig{Database: url})
	_ = hub.Wait(t)
	said := lastLine(hub.Log())
	if hub.Code() != 1 || !strings.Contains(said, strconv.Itoa(newer)) || !strings.Contains(said, " "+strconv.FormatInt(migrations.Latest(), 10)) {
		t.Errorf("exit %d with %q, want 1 with the versions %d and %d", hub.Code(), said, newer, migrations.Latest())
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// Behind PgBouncer in transaction mode, with the database's own address
// and without. The schema needs that address once.
func TestBehindAPooler(t *testing.T) {
	url := pgtest.Empty(t)
	pooled := pgtest.Pooler(t, url, "")

	t.Run("an empty database needs its own address", func(t *testing.T) {
		hub := stage.LaunchHub(t, stage.HubConfig{Database: pooled})
		_ = hub.Wait(t)
		if said := lastLine(hub.Log()); hub.Code() != 1 || !strings.Contains(said, "--database-direct-url") {
			t.Errorf("exit %d with %q, want 1 and the flag to use", hub.Code(), said)
		}
	})
	t.Run("with it news travel at once", func(t *testing.T) {
		exchange(t, stage.HubConfig{Database: pooled, Env: []string{"ANET_HUB_DATABASE_DIRECT_URL=" + url}})
	})
	t.Run("without it the database is asked, and the log says so", func(t *testing.T) {
		a := exchange(t, stage.HubConfig{Database: pooled})
		if !strings.Contains(a.Log(), "waiting polls look into the database") {
			t.Error("the hub does not say that it polls")
		}
	})
}

// exchange lets two processes bring messages from one's sender to polls that wait at
// the other.
func exchange(t *testing.T, c stage.HubConfig) *stage.HubProcess {
	t.Helper()
	a, b := stage.StartHub(t, c), stage.StartHub(t, c)
	alice, bob := stage.NewAgent(t, a.Hub), stage.NewAgent(t, b.Hub)
	alice.Register()
	bob.Register()
	wakesAcross(t, alice, bob)
	return a
}
