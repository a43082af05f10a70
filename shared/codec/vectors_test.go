package codec_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

func TestVectorsCBORCID(t *testing.T) {
	vectors.Test(t, "testdata/cbor-cid.json", "object")
}

// An edited number may still round to the same double, and what is refused
// stays refused.
func TestVectorsJCS(t *testing.T) {
	vectors.Test(t, "testdata/jcs.json", "reject_all", "depth_rule")
}

func TestVectorsJCSNumberTokens(t *testing.T) {
	vectors.Test(t, "testdata/jcs-number-tokens.json", "in")
}
