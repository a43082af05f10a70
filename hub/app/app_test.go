package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// start runs a hub process on the database and stops it with the test.
func start(t *testing.T, url string) *App {
	t.Helper()
	return startWith(t, url, func(*Config) {})
}

// startWith runs one with other settings than the usual.
func startWith(t *testing.T, url string, change func(*Config)) *App {
	t.Helper()
	cfg := Defaults()
	cfg.Listen, cfg.DatabaseURL = "127.0.0.1:0", url
	change(&cfg)
	a, err := New(t.Context(), cfg, quiet, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	a.slack = time.Minute // how long a stop may take is told in stop_test.go
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the hub ends with %v", err)
		}
	})
	return a
}

func get(t *testing.T, a *App, path string, v any) int {
	t.Helper()
	resp, err := http.Get("http://" + a.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if v != nil {
		if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// ready waits until a process says that it can serve.
func ready(t *testing.T, a *App) {
	t.Helper()
	testkit.Until(t, "/readyz is 200", func() bool { return get(t, a, "/readyz", nil) == http.StatusOK })
}

// Processes that start at once on an empty database are one hub.
func TestTwoProcessesAreOneHub(t *testing.T) {
	url := pgtest.URL(t)
	first, second := make(chan *App), make(chan *App)
	for _, c := range []chan *App{first, second} {
		go func() { c <- start(t, url) }()
	}
	a, b := <-first, <-second
	if a.AID() != b.AID() {
		t.Errorf("two identities on one database: %s and %s", a.AID(), b.AID())
	}
	for _, p := range []*App{a, b} {
		ready(t, p)
	}
}

// An operator rotates the key beside a hub that serves; the hub follows, and
// the history it shows extends the one it showed.
func TestRotationReachesRunningProcesses(t *testing.T) {
	url := pgtest.URL(t)
	a := start(t, url)
	var before, after wire.Identity
	get(t, a, "/hub/identity", &before)
	cfg := Defaults()
	cfg.DatabaseURL = url
	op, err := NewOperator(t.Context(), cfg, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close(t.Context())
	if v, err := op.Rotate(t.Context(), audit.By{Who: "tester"}); err != nil || v.Seq != 1 {
		t.Fatalf("Rotate = %+v, %v", v, err)
	}
	ready(t, a) // asks the database, as a balancer does all the time
	get(t, a, "/hub/identity", &after)
	if rel, err := identity.Compare(after.KEL, before.KEL); err != nil || rel != identity.Extends || after.AID != before.AID {
		t.Errorf("the history is %v of the former one, AID %s then %s (%v)", rel, before.AID, after.AID, err)
	}
}

// While a program is replaced by a newer one, the processes of the older go on
// where the newer's migrations let them, and say it where not.
func TestAMigrationUnderARunningProcess(t *testing.T) {
	pool := pgtest.New(t)
	a := start(t, pool.Config().ConnString())
	newer := migrations.Latest() + 1
	steps := []struct {
		what, sql string
		args      []any
		ready     int
	}{
		{"a migration for newer programs", `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, []any{newer}, 503},
		{"one for this program, too", `INSERT INTO schema_compat (version, min_program) VALUES ($1, $2)`, []any{newer, newer - 1}, 200},
	}
	for _, step := range steps {
		if _, err := pool.Exec(t.Context(), step.sql, step.args...); err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, fmt.Sprintf("after %s /readyz is %d", step.what, step.ready), func() bool {
			var said struct{ Check string }
			return get(t, a, "/readyz", &said) == step.ready && (step.ready == http.StatusOK || said.Check == "schema")
		})
	}
	start(t, pool.Config().ConnString()) // as one more process of the older program
}

// The address is found taken before anything is made for a hub that can't serve.
func TestATakenAddressMakesNothing(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cfg := Defaults()
	cfg.Listen, cfg.DataDir = other.Addr().String(), filepath.Join(t.TempDir(), "hub")
	_, err = New(t.Context(), cfg, quiet, prometheus.NewRegistry())
	if !errs.Is(err, "address_in_use") || !strings.Contains(err.Error(), cfg.Listen) {
		t.Errorf("New = %v, want address_in_use naming %s", err, cfg.Listen)
	}
	if _, err := os.Stat(cfg.DataDir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A mistyped folder would otherwise become a hub of its own.
func TestAnOperatorMakesNoHub(t *testing.T) {
	cfg := Defaults()
	cfg.DataDir = filepath.Join(t.TempDir(), "hbu")
	if _, err := NewOperator(t.Context(), cfg, quiet); !errs.Is(err, "database_not_running") {
		t.Errorf("NewOperator = %v", err)
	}
	if _, err := os.Stat(cfg.DataDir); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}

// Nor does one who mistypes the database.
func TestAnOperatorLeavesAForeignDatabaseAlone(t *testing.T) {
	cfg := Defaults()
	for want, url := range map[string]string{"no_hub_here": pgtest.Empty(t), "hub_identity_missing": pgtest.URL(t)} {
		cfg.DatabaseURL = url
		if _, err := NewOperator(t.Context(), cfg, quiet); !errs.Is(err, want) {
			t.Errorf("NewOperator = %v, want %s", err, want)
		}
	}
}

func TestFlagsVariablesAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("postgres://from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want func(Config) bool
	}{
		{"defaults", nil, nil, func(c Config) bool { return c.MailTTL == 14*24*time.Hour && c.Envelope == 96<<20 }},
		{"a flag", []string{"--relay-ttl", "1h"}, nil, func(c Config) bool { return c.MailTTL == time.Hour }},
		{"a variable", nil, map[string]string{"ANET_HUB_RELAY_MAX_ENVELOPE": "1MiB"}, func(c Config) bool { return c.Envelope == 1<<20 }},
		{"a switch as a variable", nil, map[string]string{"ANET_HUB_INVITE_REQUIRED": "true"}, func(c Config) bool { return c.InviteRequired }},
		{"the flag wins over the variable", []string{"--register-burst=7"}, map[string]string{"ANET_HUB_REGISTER_BURST": "9"},
			func(c Config) bool { return c.RegisterBurst == 7 }},
		{"the URL from a file", []string{"--database-url-file", file}, nil, func(c Config) bool { return c.DatabaseURL == "postgres://from-file" }},
		{"the URL from the environment", nil, map[string]string{EnvDatabaseURL: "postgres://env"}, func(c Config) bool { return c.DatabaseURL == "postgres://env" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, fs := Defaults(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
			cfg.ServeFlags(fs)
			if err := fs.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			if err := cfg.Complete(fs, func(k string) string { return tt.env[k] }); err != nil {
				t.Fatal(err)
			}
			if !tt.want(cfg) {
				t.Errorf("unexpected configuration %+v", cfg)
			}
		})
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	tests := []struct{ name, flag, value, want string }{
		{"a size that is none", "relay-max-envelope", "much", "no size such as 48MiB"},
		{"a negative size", "relay-max-envelope", "-1", "no size such as 48MiB"},
		{"a proxy that is no range", "trusted-proxy", "proxy.example", "no address range"},
		{"a rate nobody can keep to", "relay-send-rate", "0", "--relay-send-rate"},
		{"a rate that is no number", "relay-send-rate", "NaN", "--relay-send-rate"},
		{"another rate that is none", "register-rate", "NaN", "--register-rate"},
		{"an agent hidden before it is quiet", "hidden-after", "59m", "--hidden-after"},
		{"times that are none", "quiet-after", "0s", "--quiet-after"},
		{"an address without its scheme", "public-url", "hub.example.org", "--public-url"},
		{"an address of another kind", "public-url", "ftp://hub.example.org", "--public-url"},
		{"an address with a question", "public-url", "https://hub.example.org/?a=b", "--public-url"},
		{"a burst of none", "register-burst", "0", "--register-burst"},
		{"mailboxes for nothing", "relay-mailbox-messages", "0", "--relay-mailbox-messages"},
		{"no connections", "database-conns", "0", "--database-conns"},
		{"envelopes there are none of", "relay-max-envelope", "97MiB", "no envelope has more than 96MiB"},
		{"memory for less than one envelope on its way", "memory-budget", "383MiB", "these limits need 384MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, fs := Defaults(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
			cfg.ServeFlags(fs)
			err := fs.Set(tt.flag, tt.value)
			if err == nil {
				err = cfg.Complete(fs, func(string) string { return "" })
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
