package envelope

import (
	"slices"

	"github.com/anet-hub/anet/shared/codec"
)

// The major types of CBOR the two maps use.
const (
	majorUint  = 0
	majorBytes = 2
	majorText  = 3
	majorMap   = 5
)

// item is one encoded item where it lies; reading it copies nothing.
type item []byte

// UnmarshalCBOR keeps the reference. The library's promise to leave the bytes
// alone ends with the call; here they belong to who called Parse.
func (i *item) UnmarshalCBOR(b []byte) error {
	*i = b[:len(b):len(b)]
	return nil
}

// members are the pairs of a map with unsigned keys.
type members map[uint64]item

func parseMembers(b []byte) (members, bool) {
	if item(b).major() != majorMap {
		return nil, false // null would read as an empty map
	}
	var m members
	err := codec.Unmarshal(b, &m)
	return m, err == nil
}

func (i item) major() int {
	if len(i) == 0 {
		return -1
	}
	return int(i[0] >> 5)
}

// definite tells an item whose length stands in its head from one in chunks.
func (i item) definite() bool { return len(i) > 0 && i[0]&0x1f != 31 }

func (i item) uint() (n uint64, ok bool) {
	if i.major() != majorUint {
		return 0, false
	}
	return n, codec.Unmarshal(i, &n) == nil
}

func (i item) text() (s string, ok bool) {
	if i.major() != majorText {
		return "", false
	}
	return s, codec.Unmarshal(i, &s) == nil
}

// bytes refers into the item, except where it came in chunks.
func (i item) bytes() (b []byte, ok bool) {
	if i.major() != majorBytes {
		return nil, false
	}
	if i.definite() {
		return i[i.headLen():], true
	}
	return b, codec.Unmarshal(i, &b) == nil
}

// headLen is the length of a definite head. It may be longer than it has to.
func (i item) headLen() int {
	if info := i[0] & 0x1f; info >= 24 && info < 28 {
		return 1 + 1<<(info-24)
	}
	return 1
}

// arg is the number in a definite head: a value, a length or a count.
func (i item) arg() (n uint64) {
	if !i.definite() {
		return 0
	}
	if info := i[0] & 0x1f; info < 24 {
		return uint64(info)
	}
	for _, b := range i[1:min(i.headLen(), len(i))] {
		n = n<<8 | uint64(b)
	}
	return n
}

func uintItem(n uint64) item  { return codec.AppendHead(nil, majorUint, n) }
func textItem(s string) item  { return append(codec.AppendHead(nil, majorText, uint64(len(s))), s...) }
func bytesItem(b []byte) item { return append(codec.AppendHead(nil, majorBytes, uint64(len(b))), b...) }

func (m members) keys() []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys) // the order of numbers is that of their encodings
	return keys
}

// encode writes the map with its keys in canonical order and every value as it
// is, in one allocation: a value may be 96 MiB.
func (m members) encode() []byte {
	b := codec.AppendHead(make([]byte, 0, m.size()), majorMap, uint64(len(m)))
	for _, k := range m.keys() {
		b = append(codec.AppendHead(b, majorUint, k), m[k]...)
	}
	return b
}

// size is the length encode writes.
func (m members) size() int {
	n := 1 + headExtra(len(m))
	for k, v := range m {
		n += len(uintItem(k)) + len(v)
	}
	return n
}

// unknown finds a member a reader must understand and does not: all keys below
// 64 are such, all others are extensions.
func (m members) unknown(known ...uint64) (uint64, bool) {
	for _, k := range m.keys() {
		if k < firstExtension && !slices.Contains(known, k) {
			return k, true
		}
	}
	return 0, false
}

// firstExtension is the first key a reader may ignore.
const firstExtension = 64
