package codec

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxJSONDepth bounds nested containers, as section H.3 says.
const MaxJSONDepth = 128

// checkedNames turns the library's own check for repeated names off: the
// walker makes it, with a fraction of the memory.
var checkedNames = jsontext.AllowDuplicateNames(true)

// UnmarshalJSON decodes JSON that every reader reads alike: no repeated name,
// no two names equal under Unicode case folding, valid UTF-8, bounded depth.
// Names match exactly; unknown members are ignored.
func UnmarshalJSON(data []byte, v any) error {
	if err := walkJSON(data, &walker{twins: true}); err != nil {
		return err
	}
	return json.Unmarshal(data, v, checkedNames)
}

// UnmarshalObject is UnmarshalJSON for text that has to be an object: null
// would otherwise read as an empty one.
func UnmarshalObject(data []byte, v any) error {
	if b := bytes.TrimLeft(data, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return errors.New("decode JSON: no object")
	}
	return UnmarshalJSON(data, v)
}

// MarshalJSON writes v compactly, in the standard library's order, and leaves
// the characters of HTML as they are.
func MarshalJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := stdjson.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// CanonicalJSON writes I-JSON in the form of RFC 8785.
func CanonicalJSON(data []byte) ([]byte, error) {
	if err := CheckIJSON(data); err != nil {
		return nil, err
	}
	return Canonicalize(data)
}

// CanonicalDistinct is CanonicalJSON with, as twins, what CheckNames says, which
// here takes no walk of its own.
func CanonicalDistinct(data []byte) (canon []byte, twins, err error) {
	w := &walker{ijson: true, twins: true}
	if err := walkJSON(data, w); err != nil {
		return nil, nil, err
	}
	canon, err = Canonicalize(data)
	return canon, w.twin, err
}

// Canonicalize is CanonicalJSON of what was made from I-JSON that was checked.
func Canonicalize(data []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(data))
	if err := v.Canonicalize(checkedNames); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return v, nil
}

// CheckIJSON refuses what section H.3 keeps out of signed JSON: repeated
// names, broken UTF-8, lone surrogates, noncharacters, numbers outside
// binary64, more than 128 nested containers.
func CheckIJSON(data []byte) error { return walkJSON(data, &walker{ijson: true}) }

// CheckNames refuses two names of one object that are equal under Unicode
// simple case folding: a lax reader would take one for the other.
func CheckNames(data []byte) error { return walkJSON(data, &walker{twins: true}) }

type walker struct {
	ijson, twins bool
	names        [][]string // of the open objects
	twin         error      // the first twins of what is checked for I-JSON as well
}

func walkJSON(data []byte, w *walker) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), checkedNames)
	for {
		t, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return oneValue(d)
		}
		if err != nil {
			return fmt.Errorf("decode JSON: %w", err)
		}
		if d.StackDepth() > MaxJSONDepth {
			return fmt.Errorf("decode JSON: nested deeper than %d", MaxJSONDepth)
		}
		if err := w.token(d, t); err != nil {
			return err
		}
	}
}

func oneValue(d *jsontext.Decoder) error {
	if _, n := d.StackIndex(0); n != 1 {
		return errors.New("decode JSON: not exactly one value")
	}
	return nil
}

func (w *walker) token(d *jsontext.Decoder, t jsontext.Token) error {
	switch t.Kind() {
	case '0':
		return w.number(t.String())
	case '"':
		return w.str(d, t)
	case '{':
		w.names = append(w.names, nil)
	case '}':
		last := len(w.names) - 1
		names := w.names[last]
		w.names = w.names[:last]
		return w.object(names)
	}
	return nil
}

// object checks the names of an object. What is no I-JSON is told before twins.
func (w *walker) object(names []string) error {
	if w.ijson {
		if err := distinct(names); err != nil {
			return err
		}
	}
	if !w.twins {
		return nil
	}
	for i, s := range names {
		names[i] = strings.Map(fold, s)
	}
	err := distinct(names)
	if w.ijson {
		w.twin, err = cmp.Or(w.twin, err), nil
	}
	return err
}

func (w *walker) number(s string) error {
	if !w.ijson {
		return nil
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return errors.New("decode JSON: number outside binary64")
	}
	return nil
}

// str copies names, and values only where their text matters: one may hold a
// message of 96 MiB.
func (w *walker) str(d *jsontext.Decoder, t jsontext.Token) error {
	kind, n := d.StackIndex(d.StackDepth())
	isValue := kind != '{' || n%2 == 0
	if isValue && !w.ijson {
		return nil
	}
	s := t.String()
	if w.ijson && strings.ContainsFunc(s, nonCharacter) {
		return errors.New("decode JSON: text holds a Unicode noncharacter")
	}
	if isValue {
		return nil
	}
	last := len(w.names) - 1
	w.names[last] = append(w.names[last], s)
	return nil
}

func distinct(names []string) error {
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return fmt.Errorf("decode JSON: one name twice, or two that differ in case only: %.64q", names[i])
		}
	}
	return nil
}

// fold maps a character to the smallest one it is equal to under simple case
// folding, so that K, k and the Kelvin sign are one.
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

func nonCharacter(r rune) bool {
	return r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
}
