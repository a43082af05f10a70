package enckeys_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// Checklist 14 to 16. Most outcomes hold a moment later as well.
func TestVectorsEncKeySet(t *testing.T) {
	vectors.Test(t, "testdata/enckeyset-1.json", "now_ms", "why")
}
