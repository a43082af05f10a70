package task_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// The key was current at every time: it never rotated.
func TestVectorsBodies(t *testing.T) {
	vectors.Test(t, "testdata/bodies.json", "verify_at", "msg_time")
}

// An edited transcript is read as another one, a refused one stays refused.
func TestVectorsTranscript(t *testing.T) {
	vectors.Test(t, "testdata/transcript.json", "invalid")
}
