package codec

import (
	"testing"

	gocid "github.com/ipfs/go-cid"
)

// The ids are those of the library everybody else uses.
func TestCIDReadsBack(t *testing.T) {
	for _, id := range []string{CID(nil), CID([]byte("x")), RawCID(nil), RawCID([]byte("x"))} {
		if c, err := gocid.Decode(id); err != nil || c.String() != id {
			t.Errorf("%s is read back as %v, %v", id, c, err)
		}
	}
}
