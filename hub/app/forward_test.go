package app

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/wire"
)

// A message crosses hubs and takes effect once however often it is sent; keys are
// found at the hub that has them; who has left is delivered to nowhere.
func TestMailCrossesHubs(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), b.joined("bob")
	first, second := letter(bob, bob, 10), letter(bob, bob, 20)
	a.forwards(alice, first, b.hub)
	a.forwards(alice, first, b.hub)
	a.forwards(alice, second, b.hub)
	b.has(bob, first, second)
	reply := letter(alice, alice, 30)
	b.forwards(bob, reply, a.hub)
	a.has(alice, reply)

	keys := "/agents/" + bob.AID() + "/keys"
	a.get("404 keys_unknown", keys)
	set := bob.Keyset(time.Now(), false)
	b.call("200", bob, keys, wire.Keyset{Keyset: set})
	found := a.get("200", keys)
	if found.body["keyset"] != base64.StdEncoding.EncodeToString(set) || found.body["kel"] != base64.StdEncoding.EncodeToString(bob.Key.KEL()) {
		t.Errorf("keys: %v", found.body)
	}
	a.post("200", "/agents/keys:lookup", wire.Lookup{AID: bob.AID()})

	stranger := a.agent()
	a.call("404 unknown_recipient", alice, "/relay/send", letter(stranger, stranger, 10))
	b.call("200", bob, "/agents/"+bob.AID()+"/deregister", "{}")
	a.call("404 unknown_recipient", alice, "/relay/send", letter(bob, bob, 40))
}

// An agent that leaves one hub for another gets its mail there, and nothing is put
// into the box that nobody reads any more (D13).
func TestMailFollowsAnAgentThatMoves(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), a.joined("bob")
	before, after := letter(bob, bob, 10), letter(bob, bob, 20)
	a.call("200", alice, "/relay/send", before)
	b.call("200", bob, "/register", bob.Register("bob"))
	leave := a.signed(bob, "/agents/"+bob.AID()+"/deregister", "{}")
	again := a.opened(leave.Method, leave.URL.RequestURI(), "{}")
	again.Header = leave.Header.Clone()
	a.expect("200", leave)
	a.forwards(alice, after, b.hub)
	b.has(bob, after)
	a.call("200", bob, "/register", bob.Register("bob"))
	a.expect("401 replayed", again)
	a.call("200", alice, "/relay/send", before)
	a.has(bob, before)
}

// Who is blocked here is not delivered to by way of another hub, and reads as
// unknown to peers.
func TestBlockedAgentsGetNothingFromElsewhere(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), b.joined("bob")
	h := a.desk()
	block := blockOf(bob.AID())
	if err := h.Moderation.Block(t.Context(), block, audit.By{Who: "tester"}.Did("block.add", bob.AID(), block.At)); err != nil {
		t.Fatal(err)
	}
	a.call("404 unknown_recipient", alice, "/relay/send", letter(bob, bob, 10))
	a.get("404 keys_unknown", "/agents/"+bob.AID()+"/keys")
	block = blockOf(alice.AID())
	if err := h.Moderation.Block(t.Context(), block, audit.By{Who: "tester"}.Did("block.add", alice.AID(), block.At)); err != nil {
		t.Fatal(err)
	}
	b.call("404 unknown_recipient", bob, "/relay/send", letter(alice, alice, 10))
	b.has(bob)
}

// Two hundred sends of one message at once, through two processes of either hub,
// are one message.
func TestOneMessageThroughManyProcesses(t *testing.T) {
	a, b := newTown(t), newTown(t)
	a2, b2 := townOn(t, a.url), townOn(t, b.url)
	front := httptest.NewServer(inTurn(b.base, b2.base))
	defer front.Close()
	a.befriend(front.URL, b.self())
	b.befriend(a.base, a.self())
	a2.knows(b.self())
	b2.knows(a.self())
	alice, bob := a.joined("alice"), b.joined("bob")
	body := letter(bob, bob, 10)
	var later atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		r := a.signed(alice, "/relay/send", body)
		r.URL.Host = []*town{a, a2}[i%2].app.Addr()
		wg.Go(func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			switch resp.StatusCode {
			case http.StatusOK:
			case http.StatusBadGateway: // enough are under way to the peer: see forward.TestOffersAtOnce
				later.Add(1)
			default:
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	t.Logf("%d of 200 may come again", later.Load())
	a.delivers(alice, body, b.hub)
	b.has(bob, body)
}
