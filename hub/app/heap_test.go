package app

import (
	"runtime"
	"testing"
)

// The collector waits for what the headroom allows, and no memory is taken for it.
func TestHeadroomPutsCollectionsOff(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools kept goes with the second
	runtime.ReadMemStats(&before)
	held := headroom()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := after.NextGC - before.NextGC; more < 64<<20 {
		t.Errorf("the next collection comes %d bytes later, want 64 MB at least", more)
	}
	runtime.KeepAlive(held)
}
