package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

func restore(t *testing.T, url, path string, over bool) error {
	t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = url
	l, err := NewLanding(t.Context(), cfg, quiet)
	if err != nil {
		return err
	}
	defer l.Close(t.Context())
	if err := l.Free(over); err != nil {
		return err
	}
	return l.Restore(t.Context(), archive(t, path), audit.By{}, none)
}

// A hub that was restored is the hub that was backed up: the same voice, the same
// agents. Nothing that was signed for the old one is taken again.
func TestRestoredHubGoesOn(t *testing.T) {
	for _, mail := range []bool{false, true} {
		t.Run(fmt.Sprint("mail ", mail), func(t *testing.T) {
			s := newStocked(t, mail)
			last := query[int64](t, s.url, `SELECT max(last_id) FROM mailbox`)
			url := pgtest.Empty(t)
			if err := restore(t, url, s.file, false); err != nil {
				t.Fatal(err)
			}
			again := *s
			a := start(t, url)
			if a.AID() != s.hub {
				t.Fatalf("it speaks as %s, want %s", a.AID(), s.hub)
			}
			again.base = "http://" + a.Addr()
			again.get("200", "/agents/"+s.alice.AID())
			if n := len(again.get("200", "/agents?cap=text.digest").body["agents"].([]any)); n != 2 {
				t.Errorf("%d agents are found, want 2", n)
			}
			// What is signed within Clocks of the restore is refused as well.
			testkit.Until(t, "the hub takes requests", func() bool {
				return again.do(again.signed(s.alice, "/relay/send", letter(s.bob, s.bob, 10))).status == http.StatusOK
			})
			replayed := again.opened(http.MethodPost, "/relay/send", s.usedContent)
			replayed.Header = s.used.Header.Clone()
			again.expect("401 signed_before_restart", replayed)
			waiting := again.call("200", s.bob, "/relay/poll", "").body["messages"].([]any)
			if want := map[bool]int{false: 1, true: 2}[mail]; len(waiting) != want {
				t.Fatalf("%d messages wait, want %d", len(waiting), want)
			}
			newest := waiting[len(waiting)-1].(map[string]any)["id"].(float64)
			if int64(newest) < last+time.Hour.Microseconds() || newest >= 1<<53 {
				t.Errorf("its id is %d, and %d was given before", int64(newest), last)
			}
		})
	}
}

// Beside a hub that serves, a backup is proven; the hub knows, and so do its
// metrics.
func TestBackupIsProven(t *testing.T) {
	s := newStocked(t, false)
	at := func() postgres.Moments {
		m, err := operator(t, s.url).Backups.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := at(); m.Taken.IsZero() || !m.Proven.IsZero() {
		t.Errorf("after the backup: %+v", m)
	}
	if v := check(t, s.url, s.file); !v.Proven || len(v.Wrong) > 0 || v.Rows["agent"] != 2 || v.Rows["member"] != 3 {
		t.Errorf("the verdict: %+v", v)
	}
	if m := at(); m.Proven.IsZero() || !m.Proven.Equal(m.Taken) {
		t.Errorf("after the check: %+v", m)
	}
	if left := query[int](t, s.url, `SELECT count(*) FROM pg_database d WHERE datname LIKE 'anet_scratch_' ||
		(SELECT oid FROM pg_database WHERE datname = current_database()) || '_%'`); left != 0 {
		t.Errorf("%d scratch databases are left", left)
	}
	testkit.Until(t, "the metric tells", func() bool {
		resp, err := http.Get(s.base + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		all, _ := io.ReadAll(resp.Body)
		return strings.Contains(string(all), "anet_hub_backup_proven_age_seconds") && !strings.Contains(string(all), "anet_hub_backup_proven_age_seconds +Inf")
	})
}

// Where anything is, nothing is restored; a hub that nobody registered at may
// have to make way.
func TestRestoreLeavesWhatIsThere(t *testing.T) {
	s := newStocked(t, false)
	foreign, unused := pgtest.Empty(t), pgtest.URL(t)
	execute(t, foreign, `CREATE TABLE somebody (s text)`)
	start(t, unused)
	if err := restore(t, unused, s.file, true); !errs.Is(err, "hub_is_running") {
		t.Errorf("under a hub that runs: %v", err)
	}
	idle := pgtest.URL(t)
	cfg := Defaults()
	cfg.DatabaseURL, cfg.Listen = idle, "127.0.0.1:0"
	makeHub(t, cfg)
	for _, tt := range []struct {
		why, url string
		over     bool
		want     string
	}{
		{"another's tables", foreign, true, "database_not_empty"},
		{"a hub nobody used", idle, false, "database_not_empty"},
		{"a hub nobody used, told so", idle, true, ""},
		{"a hub with members", idle, true, "database_not_empty"},
	} {
		if got := testkit.Reason(restore(t, tt.url, s.file, tt.over)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// makeHub starts a hub once and stops it.
func makeHub(t *testing.T, cfg Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a, err := New(ctx, cfg, quiet, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	a.slack = time.Minute
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
}
