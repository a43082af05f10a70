package app

import (
	"fmt"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// streams are what hubs tell each other of their agents.
var streams = []string{"/fed/v1/cards", "/fed/v1/reviews", "/fed/v2/cards"}

// telling is a hub that tells others of its agents: each change within a second.
func telling(v *visitor) {
	v.visit(func(c *Config) { c.Discovery = "on" })
	alice, bob := v.joined("alice"), v.joined("bob")
	for _, n := range []*directorytest.Node{alice, bob} {
		r := n.Register("n", "x")
		r.A2ACard, r.Card = n.Card(1, time.Now(), "n", "skill"), n.ADPCard(1, time.Now())
		v.call("200", n, "/register", r)
		v.call("200", n, "/agents/"+n.AID()+"/visibility", wire.Visibility{Visibility: "federated"})
	}
	v.post("200", "/reviews", v.submission(alice, bob, nil))
	v.told("/fed/v2/cards", 2)
	v.told("/fed/v1/cards", 2)
	v.told("/fed/v1/reviews", 1)
	v.call("200", bob, "/agents/"+bob.AID()+"/deregister", struct{}{})
	v.told("/fed/v1/cards", 1)
	v.told("/fed/v1/reviews", 0)
	v.told("/fed/v2/cards", 2) // one is a withdrawal
	for _, path := range streams {
		v.get("400 MALFORMED", path+"?cursor=-1")
	}
}

// told waits until a stream has so many entries, all in one page.
func (v *visitor) told(path string, want int) {
	v.t.Helper()
	testkit.Until(v.t, fmt.Sprintf("%s has %d entries", path, want), func() bool {
		a := v.get("200", path+"?cursor=0")
		list, _ := a.body["cards"].([]any)
		if reviews, are := a.body["reviews"].([]any); are {
			list = reviews
		}
		return len(list) == want
	})
}
