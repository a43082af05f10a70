package adp_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// A card that is refused for one reason is refused for another as well, and the
// clock and the sequence on record may move a little.
func TestVectorsCard(t *testing.T) {
	vectors.Test(t, "testdata/card.json", "about", "id", "card_json", "kel_hex", "high_water", "now_unix", "peer_ok")
}
