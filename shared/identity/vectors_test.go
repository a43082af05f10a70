package identity_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

func TestVectorsIdentitySuite(t *testing.T) { vectors.Test(t, "testdata/identity-suite.json") }

// A history that is refused for one reason is refused for another as well.
func TestVectorsKELKeyLength(t *testing.T) {
	vectors.Test(t, "testdata/kel-key-length.json", "kel_hex")
}

func TestVectorsKELPrerotation(t *testing.T) {
	vectors.Test(t, "testdata/kel-prerotation.json", "kel_hex")
}

// A message may be a little later, or name another state of the same key, and
// still lie on its side of the retirement.
func TestVectorsKELSupersede(t *testing.T) {
	vectors.Test(t, "testdata/kel-supersede-1.json", "msg_time", "declared_seq")
}
