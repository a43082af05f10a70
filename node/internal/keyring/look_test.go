package keyring

import (
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestLookingChangesNothing(t *testing.T) {
	k, dir := ring(t)
	before, err := dir.Read(ringFile)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Look(dir)
	if err != nil || v.AID != k.AID() || v.KeySeq != 0 || !v.Due.Equal(k.Due()) {
		t.Errorf("Look = %+v, %v", v, err)
	}
	if after, err := dir.Read(ringFile); err != nil || string(after) != string(before) {
		t.Errorf("the ring on disk changed, %v", err)
	}
	if _, err := Look(folder(t)); !errs.Is(err, "identity_missing") {
		t.Errorf("a folder without keys: %v", err)
	}
}
