package envelope

import (
	"math"
	"math/bits"
)

// Padme rounds a length up so that its low bits are zero, which lets it tell
// little more than its magnitude (section E.6). Where rounding would leave the
// signed 64-bit range, the length stays as it is.
func Padme(n uint64) uint64 {
	if n < 2 {
		return n
	}
	e := bits.Len64(n) - 1           // floor(log2 n)
	low := e - bits.Len64(uint64(e)) // floor(log2 e) + 1 leading bits stay
	mask := uint64(1)<<max(low, 0) - 1
	padded := (n + mask) &^ mask
	if padded < n || padded > math.MaxInt64 {
		return n
	}
	return padded
}

// padFor is how many zero bytes bring an inner map of n bytes, with an empty
// padding already in it, to a Padmé length. The head of a byte string grows at
// 24, 256 and 65536, so some lengths cannot be hit: then the next one is.
func padFor(n int) int {
	for target := Padme(uint64(n)); ; target = Padme(target + 1) {
		if pad, ok := bytesGrowing(int(target) - n); ok {
			return pad
		}
	}
}

// bytesGrowing is the length of the byte string whose encoding is longer than
// that of the empty one by exactly delta.
func bytesGrowing(delta int) (int, bool) {
	for _, head := range []int{0, 1, 2, 4, 8} { // bytes of length after the first
		if n := delta - head; n >= 0 && headExtra(n) == head {
			return n, true
		}
	}
	return 0, false
}

// headExtra is how many bytes of length a head has after its first one.
func headExtra(n int) int {
	switch {
	case n < 24:
		return 0
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<32:
		return 4
	}
	return 8
}
