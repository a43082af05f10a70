package codec

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
)

// allocated is how many bytes f takes from the heap, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAnnouncedSizesAllocateNothing(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"array of four billion", "\x9a\xff\xff\xff\xff"},
		{"array as large as allowed", "\x9a\x00\x02\x00\x00"},
		{"map as large as allowed", "\xba\x00\x02\x00\x00"},
		{"text of a gibibyte", "\x7a\x40\x00\x00\x00x"},
		{"bytes beyond any memory", "\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"},
		{"giant inside a map", "\xa1\x01\x9a\x00\x02\x00\x00"},
	} {
		var v struct {
			A [][32]byte `cbor:"1,keyasint"`
		}
		if n := allocated(func() { _ = Unmarshal([]byte(tt.in), &v) }); n > 16<<10 {
			t.Errorf("%s: %d bytes of input took %d bytes", tt.name, len(tt.in), n)
		}
	}
}

func TestCanonicalStaysNearItsInput(t *testing.T) {
	const size = 64 << 10
	descending := binary.BigEndian.AppendUint16([]byte{0xb9}, size/4)
	for i := range size / 4 {
		descending = append(binary.BigEndian.AppendUint16(append(descending, 0x19), ^uint16(i)), 0)
	}
	for _, tt := range []struct {
		name string
		in   []byte
	}{
		{"a map in the worst order", descending},
		{"empty lists", append([]byte{0x99, 0xff, 0xff}, bytes.Repeat([]byte{0x80}, size-1)...)},
		{"lists without lengths", append(append([]byte{0x9f}, bytes.Repeat([]byte{0x9f, 0xff}, size/2)...), 0xff)},
	} {
		n := allocated(func() {
			if _, err := Canonical(tt.in); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
		if n > 6*size {
			t.Errorf("%s: %d bytes of input took %d bytes", tt.name, len(tt.in), n)
		}
	}
}
