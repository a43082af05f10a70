package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/shared/errs"
)

func folder(t *testing.T) string {
	t.Helper()
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Init(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	return dir.String()
}

func TestOneProcessPerFolder(t *testing.T) {
	dir := folder(t)
	a, err := New(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Options{DataDir: dir}); !errs.Is(err, control.AlreadyRunning) {
		t.Errorf("a second node on the folder: %v, want %s", err, control.AlreadyRunning)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = New(t.Context(), Options{DataDir: dir}); err != nil {
		t.Fatalf("after the first has closed: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestFolderWithoutIdentityIsRefused(t *testing.T) {
	dir := t.TempDir() + "/anet"
	if _, err := New(t.Context(), Options{DataDir: dir}); !errs.Is(err, "identity_missing") {
		t.Errorf("New in an empty folder: %v, want identity_missing", err)
	}
}

// A node without a hub runs: its people can read what it has, and what they
// order waits.
func TestNodeWithoutAHub(t *testing.T) {
	a, err := New(t.Context(), Options{DataDir: folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx) }()

	s, err := a.API().Status(t.Context())
	if err != nil || s.HubError == "" || s.Registered || s.Policy != "closed" {
		t.Errorf("status %+v, %v; want an unregistered, closed node that says it joined no hub", s, err)
	}
	if _, err := a.API().Find(t.Context(), FindQuery{Cap: "*"}); !errs.Is(err, "not_joined") {
		t.Errorf("Find: %v, want not_joined", err)
	}
	if _, err := a.API().Register(t.Context(), "", ""); !errs.Is(err, "not_joined") {
		t.Errorf("Register: %v, want not_joined", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
}

func TestPolicyHoldsAtOnceAndAfterARestart(t *testing.T) {
	dir := folder(t)
	for _, step := range []struct{ set, want string }{{"open", "open"}, {"", "open"}} {
		a, err := New(t.Context(), Options{DataDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if step.set != "" {
			if err := a.API().SetPolicy(t.Context(), step.set); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := a.API().Policy(t.Context()); err != nil || got != step.want {
			t.Errorf("policy %q, %v; want %q", got, err, step.want)
		}
		if err := a.API().SetPolicy(t.Context(), "opne"); !errs.Is(err, "policy_unknown") {
			t.Errorf("a misspelt policy: %v, want policy_unknown", err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is allowed and hardly meant is told at the start, and refuses nothing.
func TestDoubtfulSettingsAreTold(t *testing.T) {
	dir := folder(t)
	if err := os.WriteFile(dir+"/config.json", []byte(`{"inbound":{"public_capabilities":[{"id":"a"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a, err := New(t.Context(), Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "capability a is public, and no module names it") {
		t.Errorf("the log says %q", log.String())
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
