package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/errs"
)

func mailTo(t testing.TB) relay.Mail {
	return relay.Mail{To: newHub(t).AID(), Envelope: []byte("sealed")}
}

// Checklist 48: what the answers of peers mean to the sender.
func TestOffer(t *testing.T) {
	paused := func(p *peers.Peer) { p.Paused = true }
	for _, tt := range []struct {
		name   string
		does   []func(context.Context) error // of peers a, b, c
		change func(*table)
		asked  string
		via    string
		reason string
	}{
		{"the first takes it", does(takes, takes), nil, "a", "a", ""},
		{"the second knows the recipient", does(knows, takes), nil, "ab", "b", ""},
		{"nobody knows it", does(knows, knows, knows), nil, "abc", "", "unknown_recipient"},
		{"a full mailbox ends it", does(knows, full, takes), nil, "ab", "", "mailbox_full"},
		{"a refusal is remembered", does(policy, knows), nil, "ab", "", "peers_failed"},
		{"a failure is remembered", does(broken, knows), nil, "ab", "", "peers_failed"},
		{"unless a later one takes it", does(broken, policy, takes), nil, "abc", "c", ""},
		{"without peers", nil, nil, "", "", "unknown_recipient"},
		{"with delivery off", does(takes), func(t *table) { t.off = true }, "", "", "unknown_recipient"},
		{"a peer for discovery only", does(takes, knows), func(t *table) { t.change("a", func(p *peers.Peer) { p.Delivery = false }) }, "b", "", "unknown_recipient"},
		{"the recipient may be at one that is paused", does(takes, knows), func(t *table) { t.change("a", paused) }, "b", "", "peers_failed"},
		{"or is not who answers there", does(takes, knows), func(t *table) { t.change("a", func(p *peers.Peer) { p.Astray = true }) }, "b", "", "peers_failed"},
		{"or is not proven yet", does(takes, knows), func(t *table) { t.change("a", func(p *peers.Peer) { p.KEL = nil }) }, "b", "", "peers_failed"},
	} {
		names := []string{"a", "b", "c"}[:len(tt.does)]
		w, list := &world{does: map[string]func(context.Context) error{}}, tableOf(names...)
		for i, name := range names {
			w.does[name] = tt.does[i]
		}
		if tt.change != nil {
			tt.change(list)
		}
		via, err := newOrigin(t, list, w).Offer(t.Context(), mailTo(t))
		asked := ""
		for _, name := range w.calls() {
			asked += name
		}
		if want := viaOf(tt.via); via != want || reasonOf(err) != tt.reason || asked != tt.asked {
			t.Errorf("%s: %q, %q after asking %q, want %q, %q after %q", tt.name, via, reasonOf(err), asked, want, tt.reason, tt.asked)
		}
		if e := errs.As(err); tt.reason == "peers_failed" && (e.Kind != errs.BadGateway || e.RetryAfter <= 0) {
			t.Errorf("%s: %v after %s", tt.name, e.Kind, e.RetryAfter)
		}
	}
}

func does(all ...func(context.Context) error) []func(context.Context) error { return all }

func viaOf(name string) string {
	if name == "" {
		return ""
	}
	return "aid of " + name
}

// What is no AID is registered nowhere, and no peer is bothered with it.
func TestOfferToNobody(t *testing.T) {
	w := &world{does: map[string]func(context.Context) error{"a": takes}}
	_, err := newOrigin(t, tableOf("a"), w).Offer(t.Context(), relay.Mail{To: "nobody", Envelope: []byte("x")})
	if reasonOf(err) != "unknown_recipient" || len(w.calls()) != 0 {
		t.Errorf("%v", err)
	}
}

// One that hangs costs the first message half of its time, and the others none:
// its circuit is open.
func TestAPeerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{does: map[string]func(context.Context) error{"a": hangs, "b": takes}}
		o := newOrigin(t, tableOf("a", "b"), w)
		for i, want := range []time.Duration{5 * time.Second, 0} {
			began := time.Now()
			via, err := o.Offer(t.Context(), mailTo(t))
			if took := time.Since(began); via != "aid of b" || err != nil || took != want {
				t.Errorf("message %d: %q, %v after %s, want %s", i, via, err, took, want)
			}
		}
		if got := w.calls(); !slices.Equal(got, []string{"a", "b", "b"}) {
			t.Errorf("asked %v", got)
		}
	})
}

// The whole of it takes ten seconds, and eight more for each MiB.
func TestOfferIsBounded(t *testing.T) {
	for size, want := range map[int]time.Duration{1: 10*time.Second + time.Millisecond, 3 << 20: 34 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			names, w := []string{}, &world{does: map[string]func(context.Context) error{}}
			for i := range 20 {
				names = append(names, fmt.Sprintf("p%d", i))
				w.does[names[i]] = hangs
			}
			began := time.Now()
			_, err := newOrigin(t, tableOf(names...), w).Offer(t.Context(), relay.Mail{To: newHub(t).AID(), Envelope: make([]byte, size)})
			if took := time.Since(began); reasonOf(err) != "peers_failed" || took > want || took < want-least {
				t.Errorf("%d bytes: %v after %s", size, err, took)
			}
			if asked := w.calls(); len(asked) > 5 {
				t.Errorf("%d peers were given so little time that none could answer", len(asked))
			}
		})
	}
}

// What waits for peers that take their time holds its own share of the memory and no
// more, whatever its size; nobody waits for room.
func TestMessagesOnTheirWayShareTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{does: map[string]func(context.Context) error{"a": hangs}}
		o, room := newOrigin(t, tableOf("a"), w), budget.New(100)
		o.Memory = room
		offer := func(size int) error {
			_, err := o.Offer(t.Context(), relay.Mail{To: newHub(t).AID(), Envelope: make([]byte, size)})
			return err
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = offer(25) })
		}
		synctest.Wait()
		if err := offer(1); reasonOf(err) != "hub_busy" || room.Used() != 100 {
			t.Errorf("beside two that fill it: %v, %d bytes are held", err, room.Used())
		}
		wg.Wait()
		w.does["a"] = takes
		if err := offer(1000); reasonOf(err) != "peers_failed" || room.Used() != 0 { // the circuit is open
			t.Errorf("a large one by itself: %v, %d bytes are held", err, room.Used())
		}
	})
}

// A sender that hangs up says nothing about the peer.
func TestASenderThatHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{does: map[string]func(context.Context) error{"a": hangs, "b": takes}}
		o := newOrigin(t, tableOf("a", "b"), w)
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if _, err := o.Offer(ctx, mailTo(t)); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		w.does["a"] = takes
		if via, err := o.Offer(t.Context(), mailTo(t)); via != "aid of a" || err != nil {
			t.Errorf("afterwards: %q, %v", via, err)
		}
	})
}

// However many send at once, a peer has sixteen under way; some wait for their
// turn, and the rest may come again.
func TestOffersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		slow := func(context.Context) error {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			defer now.Add(-1)
			time.Sleep(500 * time.Millisecond)
			return nil
		}
		w := &world{does: map[string]func(context.Context) error{"a": slow}}
		o := newOrigin(t, tableOf("a"), w)
		var taken, later atomic.Int64
		var wg sync.WaitGroup
		for range 400 {
			wg.Go(func() {
				switch _, err := o.Offer(t.Context(), mailTo(t)); {
				case err == nil:
					taken.Add(1)
				case reasonOf(err) == "peers_failed":
					later.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 16 || taken.Load() != mostWaiting+callsAtOnce || taken.Load()+later.Load() != 400 {
			t.Errorf("%d at once, %d taken, %d may come again", most.Load(), taken.Load(), later.Load())
		}
		if _, err := o.Offer(t.Context(), mailTo(t)); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Those that wait for one that hangs are told in time, and are not its failures.
func TestWaitingForAPeerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{does: map[string]func(context.Context) error{"a": hangs}}
		o := newOrigin(t, tableOf("a"), w)
		began := time.Now()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := o.Offer(t.Context(), mailTo(t)); reasonOf(err) != "peers_failed" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > patience || len(w.calls()) != callsAtOnce {
			t.Errorf("it took %s", took)
		}
	})
}
