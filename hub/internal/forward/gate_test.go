package forward

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/identity"
)

// fetcher fetches a history a second after it was asked to.
type fetcher struct {
	list  *table
	kel   []byte
	asked atomic.Int64
}

func (f *fetcher) Recheck(string) {
	f.asked.Add(1)
	time.AfterFunc(time.Second, func() { f.list.change("a", func(p *peers.Peer) { p.KEL = f.kel }) })
}

func verify(g *Gate, c *identity.Controller, t *testing.T) error {
	p, _ := g.Table.ByAID(c.AID())
	f := Sign(c, "dest", []byte("x"), time.Now())
	return g.Verify(t.Context(), p, func(h *identity.History) error {
		return identity.VerifyObject(h, c.AID(), f.KeyStateSeq, f.TS, Preimage(f), f.Sig)
	})
}

// A peer that has rotated its key is followed while its first forward waits.
func TestAPeerThatRotates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := newHub(t)
		next, err := peer.Rotate(rand.Reader, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		list := tableOf("a")
		list.change("a", func(p *peers.Peer) { p.AID, p.KEL = peer.AID(), peer.KEL() })
		f := &fetcher{list: list, kel: next.KEL()}
		g := &Gate{Table: list, Prover: f, Replay: identity.Replay}
		if err := verify(g, peer, t); err != nil || f.asked.Load() != 0 {
			t.Errorf("before: %v", err)
		}
		began := time.Now()
		if err := verify(g, next, t); err != nil || f.asked.Load() != 1 || time.Since(began) > doubtWait {
			t.Errorf("after: %v in %s", err, time.Since(began))
		}
	})
}

// Who signs in its name with a key there is not costs one fetch a minute and holds
// up nothing.
func TestAPeerThatIsForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := newHub(t)
		forged, err := peer.Rotate(rand.Reader, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		list := tableOf("a")
		list.change("a", func(p *peers.Peer) { p.AID, p.KEL = peer.AID(), peer.KEL() })
		f := &fetcher{list: list, kel: peer.KEL()}
		g := &Gate{Table: list, Prover: f, Replay: identity.Replay}
		began := time.Now()
		for range 100 {
			if err := verify(g, forged, t); reasonOf(err) != "invalid_signature" {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > doubtWait || f.asked.Load() != 1 {
			t.Errorf("%d fetches in %s", f.asked.Load(), took)
		}
		time.Sleep(doubtEvery)
		if err := verify(g, forged, t); reasonOf(err) != "invalid_signature" || f.asked.Load() != 2 {
			t.Errorf("a minute later: %v, %d fetches", err, f.asked.Load())
		}
	})
}

// What one peer has at work is bounded, and given back.
func TestFlow(t *testing.T) {
	f, a, b := newFlow(), peers.Peer{ID: 1}, peers.Peer{ID: 2}
	var leave []func()
	for range atOnce {
		l, err := f.enter(a)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, err := f.enter(a); reasonOf(err) != "busy" {
		t.Errorf("one more: %v", err)
	}
	if _, err := f.enter(b); err != nil {
		t.Errorf("another peer: %v", err)
	}
	for _, l := range leave {
		l()
	}
	if _, err := f.enter(a); err != nil || len(f.busy) != 2 {
		t.Errorf("afterwards: %v, %v", err, f.busy)
	}
}
