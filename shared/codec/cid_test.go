package codec

import (
	"strings"
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

func TestValidCID(t *testing.T) {
	good := CID(nil)
	for _, tt := range []struct {
		name, s string
		want    bool
	}{
		{"CBOR", good, true},
		{"raw", RawCID(nil), true},
		{"stray trailing bits", good[:58] + "b", false},
		{"upper case", strings.ToUpper(good), false},
		{"short", good[:58], false},
		{"line break", good[:57] + "\n" + good[58:], false},
		{"another codec", "bafybei" + good[7:], false},
		{"empty", "", false},
	} {
		if got := ValidCID(tt.s); got != tt.want {
			t.Errorf("%s: ValidCID(%q) = %v, want %v", tt.name, tt.s, got, tt.want)
		}
	}
}
