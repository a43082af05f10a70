package card_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// Checklist 34 and 35. A verifier's clock may differ a little.
func TestVectorsGolden(t *testing.T) {
	vectors.Test(t, "testdata/a2acard-golden.json", "signer", "now_ms")
}

// Checklist 34: cards that another SDK signed. A card that is refused for one
// reason is refused for another as well, so edits of cards prove nothing here.
func TestVectorsCrossSDK(t *testing.T) {
	vectors.Test(t, "testdata/a2acard-cross-sdk.json", "now_ms", "semantics", "a2a_python_verifies", "card")
}

// Checklist 38. The last bytes of a history are an event id that nobody trusts.
func TestVectorsJWKS(t *testing.T) { vectors.Test(t, "testdata/a2acard-jwks.json", "kel_hex") }

// Checklist 37. Another port or another AID of the same beginning changes nothing.
func TestVectorsNetcard(t *testing.T) {
	vectors.Test(t, "testdata/netcard-unsigned.json", "refuse_extension", "refuse_interface_url", "default_name")
}
