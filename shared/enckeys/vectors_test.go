package enckeys_test

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// Checklist 14 to 16. Most outcomes hold a moment later as well.
func TestVectorsEncKeySet(t *testing.T) {
	vectors.Test(t, "testdata/enckeyset-1.json", "now_ms", "why")
}

func FuzzParse(f *testing.F) {
	vectors.Seeds(f, "testdata/enckeyset-1.json")
	owner, err := vectors.Suite()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := enckeys.Parse(raw)
		if err != nil {
			return
		}
		now := time.UnixMilli(int64(s.Set.IssuedAt))
		_ = s.VerifyUnder(owner.History(), s.Set.AID, now)
		if k, err := enckeys.Choose(s.Set.Keys, now); err == nil {
			k.Recipient()
		}
		wire, err := s.Wire()
		if err != nil {
			t.Fatalf("%x is read and not written: %v", raw, err)
		}
		again, err := enckeys.Parse(wire)
		if err != nil || enckeys.Decide(&s, again) != enckeys.Unchanged {
			t.Fatalf("%x is written and read as another set: %v", raw, err)
		}
	})
}
