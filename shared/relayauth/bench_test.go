package relayauth_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/identity"
	. "github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/testkit"
)

// What every signed request costs a hub that has seen the signer before.
func BenchmarkVerify(b *testing.B) {
	c := testkit.Agent(b, 1)
	claim, err := ParseHeaders(signed(b, c))
	if err != nil {
		b.Fatal(err)
	}
	cache := identity.NewCache(1 << 20)
	for b.Loop() {
		if err := claim.Verify(c.KEL(), cache.Replay, "poll", hub, "POST", "/relay/poll?x=%2F", []byte("{}")); err != nil {
			b.Fatal(err)
		}
	}
}
