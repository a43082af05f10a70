package envelope

import (
	"math"
	"testing"
)

// Checklist 21: Padmé on the whole inner map, without overflow.
func TestPadme(t *testing.T) {
	for _, tt := range []struct{ n, want uint64 }{
		{0, 0}, {1, 1}, {2, 2}, {8, 8}, {9, 10}, {722, 736}, {1025, 1088}, {65537, 67584},
		{math.MaxInt64, math.MaxInt64},
		{math.MaxInt64 - 1, math.MaxInt64 - 1},
		{math.MaxUint64, math.MaxUint64},
	} {
		if got := Padme(tt.n); got != tt.want {
			t.Errorf("Padme(%d) = %d, want %d", tt.n, got, tt.want)
		}
	}
}

func TestPadForReachesAPadmeLength(t *testing.T) {
	for n := 2; n < 70_000; n++ {
		pad := padFor(n)
		if total := n + pad + headExtra(pad); Padme(uint64(total)) != uint64(total) {
			t.Fatalf("%d bytes are padded with %d to %d, which is no Padmé length", n, pad, total)
		}
		if limit := max(64, n/4); pad > limit {
			t.Fatalf("%d bytes are padded with %d, more than %d", n, pad, limit)
		}
	}
	for _, delta := range []int{24, 257, 65538, 65539} {
		if pad, ok := bytesGrowing(delta); ok {
			t.Errorf("a byte string of %d is said to grow by %d", pad, delta)
		}
	}
}
