package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The major types of RFC 8949, section 3.1.
const (
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorOther = 7
)

// indefinite is the additional information of a length to be ended by a break.
const (
	indefinite = 31
	breakByte  = 0xff
)

var errDuplicateKey = errors.New("decode CBOR: a map key occurs twice")

// Canonical re-encodes one item deterministically. It builds no tree: memory
// stays within a few times the input, whatever the input announces.
func (d Decoder) Canonical(raw []byte) ([]byte, error) {
	if err := d.mode.Wellformed(raw); err != nil {
		return nil, fmt.Errorf("decode CBOR: %w", err)
	}
	w := rewriter{in: raw, out: make([]byte, 0, len(raw)), limit: d.items}
	if err := w.item(); err != nil {
		return nil, err
	}
	return w.out, nil
}

// check refuses what Canonical refuses and writes nothing but the keys it has
// to compare: a sealed message of 96 MiB is looked at where it lies.
func (d Decoder) check(raw []byte) error {
	if err := d.mode.Wellformed(raw); err != nil {
		return fmt.Errorf("decode CBOR: %w", err)
	}
	w := rewriter{in: raw, limit: d.items, checking: true}
	return w.item()
}

// rewriter copies one well-formed item from in to out.
type rewriter struct {
	in, out  []byte
	items    int
	limit    int  // of items, 0 for none
	checking bool // only keys are written
	inKey    int
}

func (w *rewriter) item() error {
	if w.items++; w.limit > 0 && w.items > w.limit {
		return fmt.Errorf("decode CBOR: more than %d items", w.limit)
	}
	start := w.in
	major, info, arg := w.head()
	switch major {
	case majorBytes, majorText:
		return w.str(major, info, arg)
	case majorArray:
		return w.array(info, arg)
	case majorMap:
		return w.dict(info, arg)
	case majorOther:
		return w.simple(start[:len(start)-len(w.in)], info)
	default:
		w.out = AppendHead(w.out, major, arg)
		return nil
	}
}

// head takes the initial byte and its argument off the input.
func (w *rewriter) head() (major, info byte, arg uint64) {
	major, info = w.in[0]>>5, w.in[0]&0x1f
	w.in = w.in[1:]
	if info < 24 || info == indefinite {
		return major, info, uint64(info)
	}
	n := 1 << (info - 24)
	for _, b := range w.in[:n] {
		arg = arg<<8 | uint64(b)
	}
	w.in = w.in[n:]
	return major, info, arg
}

func (w *rewriter) str(major, info byte, n uint64) error {
	start := w.open(major, info, n)
	if info != indefinite {
		return w.chunk(major, n)
	}
	for !w.ended() {
		_, _, n := w.head()
		if err := w.chunk(major, n); err != nil {
			return err
		}
	}
	w.close(start, major, info, uint64(len(w.out)-start))
	return nil
}

func (w *rewriter) chunk(major byte, n uint64) error {
	s := w.in[:n]
	if major == majorText && !utf8.Valid(s) {
		return errors.New("decode CBOR: text is not UTF-8")
	}
	w.in = w.in[n:]
	if !w.checking || w.inKey > 0 {
		w.out = append(w.out, s...)
	}
	return nil
}

func (w *rewriter) array(info byte, n uint64) error {
	start := w.open(majorArray, info, n)
	count := uint64(0)
	for ; w.more(info, n, count); count++ {
		if err := w.item(); err != nil {
			return err
		}
	}
	w.close(start, majorArray, info, count)
	return nil
}

func (w *rewriter) dict(info byte, n uint64) error {
	start := w.open(majorMap, info, n)
	var pairs []pair
	if info != indefinite {
		pairs = make([]pair, 0, n) // they are all there: the item is well-formed
	}
	for w.more(info, n, uint64(len(pairs))) {
		p, err := w.pair()
		if err != nil {
			return err
		}
		pairs = append(pairs, p)
	}
	err := w.sort(start, pairs)
	w.close(start, majorMap, info, uint64(len(pairs)))
	return err
}

// pair is where one map entry stands in the output.
type pair struct{ key, value, end uint32 }

func (w *rewriter) pair() (p pair, err error) {
	p.key = uint32(len(w.out))
	w.inKey++
	err = w.item()
	w.inKey--
	if err != nil {
		return p, err
	}
	p.value = uint32(len(w.out))
	err = w.item()
	p.end = uint32(len(w.out))
	return p, err
}

// sort puts the entries from start on into the bytewise order of their keys.
func (w *rewriter) sort(start int, pairs []pair) error {
	byKey := func(a, b pair) int { return bytes.Compare(w.out[a.key:a.value], w.out[b.key:b.value]) }
	ordered := slices.IsSortedFunc(pairs, byKey)
	slices.SortFunc(pairs, byKey)
	for i := 1; i < len(pairs); i++ {
		if byKey(pairs[i-1], pairs[i]) == 0 {
			return errDuplicateKey
		}
	}
	if ordered {
		return nil
	}
	old := slices.Clone(w.out[start:])
	w.out = w.out[:start]
	for _, p := range pairs {
		w.out = append(w.out, old[int(p.key)-start:int(p.end)-start]...)
	}
	return nil
}

// open writes a head whose argument is known and says where the content begins.
func (w *rewriter) open(major, info byte, n uint64) int {
	if info != indefinite {
		w.out = AppendHead(w.out, major, n)
	}
	return len(w.out)
}

// close inserts a head whose argument is known only after its content.
func (w *rewriter) close(start int, major, info byte, n uint64) {
	if info == indefinite {
		var head [9]byte
		w.out = slices.Insert(w.out, start, AppendHead(head[:0], major, n)...)
	}
}

// more reports whether a container has another member.
func (w *rewriter) more(info byte, n, count uint64) bool {
	if info == indefinite {
		return !w.ended()
	}
	return count < n
}

func (w *rewriter) ended() bool {
	if w.in[0] != breakByte {
		return false
	}
	w.in = w.in[1:]
	return true
}

// simple copies null, booleans and the like, and shortens floats.
func (w *rewriter) simple(item []byte, info byte) error {
	if info < 25 {
		w.out = append(w.out, item...)
		return nil
	}
	var f float64
	if err := standard.mode.Unmarshal(item, &f); err != nil {
		return fmt.Errorf("decode CBOR: %w", err)
	}
	b, err := Marshal(f)
	w.out = append(w.out, b...)
	return err
}

// AppendHead writes the head of an item in its shortest form, for those who
// put large items together without copying them first.
func AppendHead(b []byte, major byte, arg uint64) []byte {
	m := major << 5
	switch {
	case arg < 24:
		return append(b, m|byte(arg))
	case arg < 1<<8:
		return append(b, m|24, byte(arg))
	case arg < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, m|25), uint16(arg))
	case arg < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, m|26), uint32(arg))
	default:
		return binary.BigEndian.AppendUint64(append(b, m|27), arg)
	}
}
