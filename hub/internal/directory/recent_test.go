package directory

import "testing"

// What is asked for stays; what is not is forgotten after two generations at most.
func TestRecentsAreBounded(t *testing.T) {
	var m recents
	kept, left := aidOf(90_000), aidOf(90_001)
	last := Recent{Body: BodyHash{1}, Under: [32]byte{2}}
	m.note(kept, last)
	m.note(left, last)
	for i := range 2 * maxRecent {
		m.note(aidOf(i%80_000)+string(rune('a'+i/80_000)), Recent{})
		if i%1000 == 0 {
			if got, ok := m.find(kept); !ok || got != last {
				t.Fatalf("after %d others: %v, %v", i, got, ok)
			}
		}
	}
	if _, ok := m.find(left); ok {
		t.Error("what nobody asked for is still remembered")
	}
	if n := len(m.young) + len(m.old); n > 2*maxRecent {
		t.Errorf("%d are remembered, more than %d", n, 2*maxRecent)
	}
	if m.forget(kept); len(m.young) == 0 {
		t.Error("all were forgotten with one")
	}
	if _, ok := m.find(kept); ok {
		t.Error("what was forgotten is remembered")
	}
}
