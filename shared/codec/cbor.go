package codec

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// The bounds of section A.1 on foreign CBOR.
const (
	MaxLevels   = 32
	MaxElements = 131_072
)

// RawMessage is one CBOR item kept as it was written.
type RawMessage = cbor.RawMessage

var (
	encoder = must(encOptions().EncMode())
	// standard decodes anything the protocol allows.
	standard = NewDecoder(MaxElements)
)

func encOptions() cbor.EncOptions {
	o := cbor.CoreDetEncOptions()
	o.NaNConvert = cbor.NaNConvertReject
	o.InfConvert = cbor.InfConvertReject
	o.TagsMd = cbor.TagsForbidden
	return o
}

// Marshal encodes v in the core deterministic form of RFC 8949, section 4.2.1.
// A nil slice is written as null, as the reference does.
func Marshal(v any) ([]byte, error) {
	b, err := encoder.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode CBOR: %w", err)
	}
	return b, nil
}

// Unmarshal decodes exactly one item into v under the limits of section A.1.
// Unknown integer keys are ignored and null reads as empty.
func Unmarshal(data []byte, v any) error { return standard.Unmarshal(data, v) }

// Canonical re-encodes one CBOR item deterministically.
func Canonical(raw []byte) ([]byte, error) { return standard.Canonical(raw) }

// Decoder decodes CBOR whose containers have a bound of their own. A list of
// one-byte items grows by the size of its Go element, so a small object read
// from a stranger gets a small bound.
type Decoder struct {
	mode  cbor.DecMode
	items int
}

// NewDecoder makes a decoder that refuses containers of more elements.
func NewDecoder(elements int) Decoder {
	return Decoder{mode: must(cbor.DecOptions{
		MaxNestedLevels:   MaxLevels,
		MaxArrayElements:  elements,
		MaxMapPairs:       elements,
		TagsMd:            cbor.TagsForbidden,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		NaN:               cbor.NaNDecodeForbidden,
		Inf:               cbor.InfDecodeForbidden,
	}.DecMode())}
}

// Within bounds all items together: containers nested in containers would
// otherwise each have the bound of one.
func (d Decoder) Within(items int) Decoder {
	d.items = items
	return d
}

// Unmarshal decodes exactly one item into v.
func (d Decoder) Unmarshal(data []byte, v any) error {
	// The canonical walk finds repeated keys and broken text everywhere. The
	// library would not look inside members it skips, and it keeps a set of
	// the keys it does not know, many times the size of the input.
	if err := d.check(data); err != nil {
		return err
	}
	if err := d.mode.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode CBOR: %w", err)
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // options are constants
	}
	return v
}

// BytesIn is the content of one well-formed item where it lies; false when it is
// no byte string with its length in its head.
func BytesIn(b []byte) ([]byte, bool) {
	if len(b) == 0 || b[0]>>5 != majorBytes || b[0]&0x1f == indefinite {
		return nil, false
	}
	w := rewriter{in: b}
	if _, _, n := w.head(); n != uint64(len(w.in)) {
		return nil, false
	}
	return w.in[:len(w.in):len(w.in)], true
}
