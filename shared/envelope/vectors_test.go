package envelope_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// Checklist 18: the published message opens and verifies. It does so a moment
// later as well.
func TestVectorsSealed(t *testing.T) {
	vectors.Test(t, "testdata/sealed-1.json", "now_ms", "recipient_priv_note")
}

// Checklist 21. Neighbouring lengths are padded to one.
func TestVectorsPadme(t *testing.T) { vectors.Test(t, "testdata/padme.json", "table") }

func TestVectorsHPKE(t *testing.T) { vectors.Test(t, "testdata/hpke-rfc9180-a2.1.json") }
