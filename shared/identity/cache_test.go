package identity

import (
	"testing"
	"time"
)

func TestCacheIsBoundedInBytes(t *testing.T) {
	one := newController(t, 1)
	room := (len(one.KEL()) + stateCost) * 3
	cache := NewCache(room)
	var first *History
	for seed := range byte(5) {
		c := newController(t, seed)
		h, err := cache.Replay(c.KEL())
		if err != nil || h.AID() != c.AID() {
			t.Fatal(err)
		}
		if seed == 0 {
			first = h
		}
		if again, _ := cache.Replay(newController(t, 0).KEL()); again != first {
			t.Error("the history in use was dropped")
		}
		if cache.size > room || len(cache.byKey) != cache.order.Len() {
			t.Errorf("cache holds %d bytes, want at most %d", cache.size, room)
		}
	}
	if len(cache.byKey) != 3 {
		t.Errorf("cache holds %d histories, want 3", len(cache.byKey))
	}
	if _, err := cache.Replay([]byte{0x80}); err == nil || len(cache.byKey) != 3 {
		t.Error("a history that does not replay took a place")
	}
}

func TestCacheKnowsTheLatest(t *testing.T) {
	young := newController(t, 1)
	at, _ := after(time.Hour)
	grown := rotate(t, young, at)
	size := len(young.KEL()) + stateCost
	c := NewCache(4 * size)
	latest := func() int {
		if h := c.Latest(young.AID()); h != nil {
			return h.Len()
		}
		return 0
	}
	for _, tt := range []struct {
		name string
		ask  func()
		want int
	}{
		{"nothing yet", func() {}, 0},
		{"a first one", func() { c.Replay(young.KEL()) }, 1},
		{"a longer one", func() { c.Replay(grown.KEL()) }, 2},
		{"one that was asked for before", func() { c.Replay(young.KEL()) }, 1},
		{"the other once more", func() { c.Replay(grown.KEL()) }, 2},
		{"one that does not replay", func() { c.Replay(grown.KEL()[1:]) }, 2},
		{"forgotten", func() { c.Forget(young.AID()) }, 0},
		{"brought again", func() { c.Replay(grown.KEL()) }, 2},
		{"pushed out by others", func() {
			for seed := range byte(8) {
				c.Replay(newController(t, 10+seed).KEL())
			}
		}, 0},
	} {
		tt.ask()
		if got := latest(); got != tt.want {
			t.Errorf("%s: the latest has %d events, want %d", tt.name, got, tt.want)
		}
	}
	if len(c.byAID) != len(c.byKey) || c.size > c.max {
		t.Errorf("%d agents, %d histories, %d of %d bytes", len(c.byAID), len(c.byKey), c.size, c.max)
	}
}
