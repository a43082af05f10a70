package embedpg

import "testing"

func TestSharedBuffers(t *testing.T) {
	for _, tt := range []struct {
		name          string
		machine, want int
	}{
		{"unknown", 0, 128},
		{"a small machine", 512, 128},
		{"an eighth", 4096, 512},
		{"never more than is of use", 262144, 1024},
	} {
		if got := sharedBuffers(tt.machine); got != tt.want {
			t.Errorf("%s: sharedBuffers(%d) = %d, want %d", tt.name, tt.machine, got, tt.want)
		}
	}
}
