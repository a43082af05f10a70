package app

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
)

// waiting is the way to a hub on which forwards wait until it is opened.
type waiting struct {
	*httptest.Server
	came atomic.Int64
	open chan struct{}
}

func newWaiting(t *testing.T, base string) *waiting {
	w := &waiting{open: make(chan struct{})}
	on := inTurn(base)
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fed/v1/forward" {
			w.came.Add(1)
			<-w.open
		}
		on.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// A peer that takes its time with large messages leaves room for mail that stays
// here; what finds none among those on their way may come again.
func TestASlowPeerLeavesRoomForLocalMail(t *testing.T) {
	a := townOn(t, pgtest.URL(t), func(c *Config) { c.Envelope, c.PollBudget, c.Memory = 2<<20, 2<<20, 16<<20 })
	b := newTown(t)
	way := newWaiting(t, b.base)
	a.befriend(way.URL, b.self())
	b.befriend(a.base, a.self())
	alice, near, far := a.joined("alice"), a.joined("near"), b.joined("far")
	var sends sync.WaitGroup
	var busy, late, taken atomic.Int64
	for i := range 8 {
		r := a.signed(alice, "/relay/send", letter(far, far, 1<<20+i))
		sends.Go(func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			switch {
			case resp.StatusCode == http.StatusOK:
				taken.Add(1)
			case resp.Header.Get("Retry-After") == "":
				t.Errorf("status %d, and nobody says when to come again", resp.StatusCode)
			case resp.StatusCode == http.StatusServiceUnavailable:
				busy.Add(1)
			case resp.StatusCode == http.StatusBadGateway: // it has waited for long
				late.Add(1)
			default:
				t.Errorf("status %d", resp.StatusCode)
			}
		})
		testkit.Until(t, "one more waits or is refused", func() bool { return way.came.Load()+busy.Load()+late.Load() > int64(i) })
	}
	for i := range 3 {
		a.call("200", alice, "/relay/send", letter(near, near, 2<<20-1000+i))
	}
	close(way.open)
	sends.Wait()
	if busy.Load() == 0 || taken.Load()+late.Load() == 0 {
		t.Errorf("%d were refused, %d waited for the peer, want some of both", busy.Load(), taken.Load()+late.Load())
	}
	a.delivers(alice, letter(far, far, 1<<20), b.hub)
}
