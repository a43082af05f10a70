package app

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crypto/rand"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// imposter answers at a hub's URL, with an identity of its own, and says yes to
// everything.
type imposter struct {
	key   *identity.Controller
	mu    sync.Mutex
	asked []string
}

func (i *imposter) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	i.asked = append(i.asked, r.URL.Path)
	i.mu.Unlock()
	body := `{"status":"queued","id":1,"messages":[]}`
	if r.URL.Path == "/hub/identity" {
		body = fmt.Sprintf(`{"aid":%q,"kel":%q}`, i.key.AID(), base64.StdEncoding.EncodeToString(i.key.KEL()))
	}
	h := http.Header{}
	h.Set(wire.HeaderVersion, "2")
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (i *imposter) paths() []string { i.mu.Lock(); defer i.mu.Unlock(); return slices.Clone(i.asked) }

func somebody(t *testing.T) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whoever answers at the hub's URL without being the hub that was joined gets
// no mail and no question, and what was to be sent waits.
func TestAnotherHubAtTheURLIsToldNothing(t *testing.T) {
	a, other := takenOver(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx) }()
	task, err := a.API().StartTask(ctx, node.Order{Provider: somebody(t).AID(), Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	for task.LastError == "" && !task.Ended {
		if task, err = a.API().Wait(ctx, task.ID, task.Version); err != nil {
			t.Fatal(err)
		}
	}
	if task.Ended || !strings.Contains(task.LastError, "another hub answers") {
		t.Errorf("the task: state %s, last error %q; want it to wait for the hub that was joined", task.State, task.LastError)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	other.wasToldNothing(t)
}

// A redemption may be with the hub already, so that nobody else is asked to take it: a
// refusal would have it forgotten, and signed once more.
func TestAnotherHubAtTheURLRedeemsNothing(t *testing.T) {
	a, other := takenOver(t)
	_, err := a.API().Redeem(t.Context(), node.Redemption{Amount: 5})
	if err == nil {
		t.Error("another hub redeemed")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	other.wasToldNothing(t)
}

// takenOver is a node whose hub's URL another one answers at.
func takenOver(t *testing.T) (*App, *imposter) {
	t.Helper()
	path, hub, other := folder(t), somebody(t), &imposter{key: somebody(t)}
	dir, err := datadir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	pin := hubclient.Pin{URL: "https://hub.example.org", AID: hub.AID(), KEL: hub.KEL()}
	if err := pin.Store(dir); err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), Options{DataDir: path, Transport: other})
	if err != nil {
		t.Fatal(err)
	}
	return a, other
}

func (i *imposter) wasToldNothing(t *testing.T) {
	t.Helper()
	for _, path := range i.paths() {
		if path != "/hub/identity" {
			t.Errorf("%s was asked of another hub", path)
		}
	}
}
