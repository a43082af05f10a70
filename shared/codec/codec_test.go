package codec

import (
	"bytes"
	"encoding/hex"
	"math"
	"runtime"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"shortest integer", "1b0000000000000001", "01"},
		{"shortest length", "590001ff", "41ff"},
		{"keys in bytewise order, not length first", "a3616101206162 18ff03", "a318ff032061626161 01"},
		{"indefinite array", "9f0102ff", "820102"},
		{"indefinite map", "bf0203 0102ff", "a201020203"},
		{"indefinite text", "7f61616162ff", "626162"},
		{"nested map is sorted too", "a101a202010100", "a101a201000201"},
		{"float to half", "fb3ff8000000000000", "f93e00"},
		{"float that needs eight bytes", "fb3ff199999999999a", "fb3ff199999999999a"},
		{"null and true stay", "82f6f5", "82f6f5"},
		{"negative bignum range", "3bffffffffffffffff", "3bffffffffffffffff"},
	} {
		in, want := unhex(t, strings.ReplaceAll(tt.in, " ", "")), strings.ReplaceAll(tt.want, " ", "")
		got, err := Canonical(in)
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: Canonical(%s) = %x, %v, want %s", tt.name, tt.in, got, err, want)
		}
	}
}

func TestCBORIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"no item", ""},
		{"duplicate key", "a2010001 00"},
		{"duplicate key written longer", "a20100180100"},
		{"duplicate key below a key nobody knows", "a11863a2010001 00"},
		{"tag", "c100"},
		{"tag inside", "a101c100"},
		{"bytes after the item", "0000"},
		{"NaN", "f97e00"},
		{"infinity", "f97c00"},
		{"text that is not UTF-8", "61ff"},
		{"array longer than the input", "9affffffff"},
		{"more elements than allowed", "9a00020001" + strings.Repeat("00", MaxElements+1)},
		{"33 levels", strings.Repeat("81", 33) + "00"},
	} {
		var v map[int]RawMessage
		in := unhex(t, strings.ReplaceAll(tt.in, " ", ""))
		if err := Unmarshal(in, &v); err == nil {
			t.Errorf("%s: Unmarshal accepts it", tt.name)
		}
		if _, err := Canonical(in); err == nil {
			t.Errorf("%s: Canonical accepts it", tt.name)
		}
	}
	if _, err := Canonical(unhex(t, strings.Repeat("81", 32)+"00")); err != nil {
		t.Errorf("32 levels: %v, want none", err)
	}
}

func TestMarshal(t *testing.T) {
	type shape struct {
		N int      `cbor:"1,keyasint"`
		L [][]byte `cbor:"2,keyasint"`
		S string   `cbor:"3,keyasint,omitempty"`
	}
	b, err := Marshal(shape{N: 1})
	if err != nil || hex.EncodeToString(b) != "a2010102f6" {
		t.Errorf("Marshal = %x, %v, want the unset list as null and the empty text left out", b, err)
	}
	var s shape
	if err := Unmarshal(unhex(t, "a401f602f603f6186301"), &s); err != nil || s.N != 0 || s.L != nil {
		t.Errorf("Unmarshal = %+v, %v, want null read as empty and an unknown key ignored", s, err)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := Marshal(f); err == nil {
			t.Errorf("Marshal(%v) succeeds, want an error", f)
		}
	}
}

func TestDecodeB64u(t *testing.T) {
	for _, s := range []string{"AA==", "AB", "+/8A", "AA\n", "A\r\nA", "A", "A A"} {
		if b, err := DecodeB64u(s); err == nil {
			t.Errorf("DecodeB64u(%q) = %x, want an error", s, b)
		}
	}
	if b, err := DecodeB64u("-_8"); err != nil || !bytes.Equal(b, []byte{0xfb, 0xff}) {
		t.Errorf("DecodeB64u(-_8) = %x, %v", b, err)
	}
	for _, s := range []string{"AA", "AB==", "AA=\n="} {
		if _, err := DecodeB64(s); err == nil {
			t.Errorf("DecodeB64(%q) succeeds, want an error", s)
		}
	}
}

func TestUnmarshalJSON(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"plain", `{"a":1,"b":{"a":2}}`, true},
		{"a name may return in another object", `[{"a":1},{"A":2}]`, true},
		{"duplicate name", `{"a":1,"a":2}`, false},
		{"twins in case", `{"amount":1,"AMOUNT":2}`, false},
		{"twins by the Kelvin sign", `{"k":1,"\u212a":2}`, false},
		{"twins deep inside", `{"x":[{"k":1,"K":2}]}`, false},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", false},
		{"lone surrogate", `{"a":"\ud800"}`, false},
		{"128 levels", strings.Repeat("[", 128) + strings.Repeat("]", 128), true},
		{"129 levels", strings.Repeat("[", 129) + strings.Repeat("]", 129), false},
		{"two values", `{} {}`, false},
		{"nothing", ``, false},
	} {
		var v any
		if err := UnmarshalJSON([]byte(tt.in), &v); (err == nil) != tt.ok {
			t.Errorf("%s: error = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
	var v struct {
		Name string `json:"name"`
	}
	if err := UnmarshalJSON([]byte(`{"NAME":"x"}`), &v); err != nil || v.Name != "" {
		t.Errorf("a name in other case = %q, %v, want it ignored", v.Name, err)
	}
}

func TestCanonicalJSONKeepsTwins(t *testing.T) {
	got, err := CanonicalJSON([]byte(`{"b":1.0,"B":-0}`))
	if err != nil || string(got) != `{"B":0,"b":1}` {
		t.Errorf("CanonicalJSON = %s, %v, want names that differ in case kept apart", got, err)
	}
}

// One walk says what two say, and what is no I-JSON before what has twins.
func TestCanonicalDistinct(t *testing.T) {
	for _, tt := range []struct {
		in             string
		canon          string
		twins, refused bool
	}{
		{`{"b":1.0,"a":{"x":1,"y":2}}`, `{"a":{"x":1,"y":2},"b":1}`, false, false},
		{`{"b":1,"B":2}`, `{"B":2,"b":1}`, true, false},
		{`{"a":[{"k":1,"\u212a":2}],"b":1}`, `{"a":[{"k":1,"K":2}],"b":1}`, true, false},
		{`{"b":1,"B":2,"b":3}`, "", false, true},
		{`{"x":{"b":1,"B":2},"y":1e400}`, "", false, true},
		{`{"x":{"b":1,"B":2},"y":"\ufffe"}`, "", false, true},
		{`{"b":1,"B":2`, "", false, true},
	} {
		canon, twins, err := CanonicalDistinct([]byte(tt.in))
		if string(canon) != tt.canon || (twins != nil) != tt.twins || (err != nil) != tt.refused {
			t.Errorf("CanonicalDistinct(%s) = %s, %v, %v", tt.in, canon, twins, err)
		}
	}
}

func TestDecoderWithin(t *testing.T) {
	d := NewDecoder(MaxElements).Within(4)
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"four items side by side", "83000000", true},
		{"four items in each other", "81818100", true},
		{"five items in containers of two", "8281008100", false},
		{"keys count as well", "a200000101", false},
	} {
		var v any
		if err := d.Unmarshal(unhex(t, tt.in), &v); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
}

func TestUnmarshalLooksAtLargeItemsWhereTheyLie(t *testing.T) {
	const size = 8 << 20
	raw := append(AppendHead([]byte{0xa1, 0x06}, majorBytes, size), make([]byte, size)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := standard.check(raw)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; err != nil || grown > size/8 {
		t.Errorf("checking %d bytes: %v, and takes %d bytes more, want next to none", size, err, grown)
	}
}
