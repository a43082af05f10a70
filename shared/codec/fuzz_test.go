package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/gowebpki/jcs"
)

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"\xa2\x02\x01\x01\x00", "\x9f\x01\xff", "\x7f\x61a\xff", "\xf9\x3e\x00", "\x9a\xff\xff\xff\xff", "\xa1\x01\xa0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := Canonical(raw)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Canonical(%x) = %x, then %x, %v", raw, once, twice, err)
		}
		var v any
		if err := Unmarshal(raw, &v); err != nil {
			return // a key Go cannot compare
		}
		if b, err := Marshal(v); err == nil && !bytes.Equal(b, once) && !bytes.ContainsAny(once, "\xf7") {
			t.Fatalf("Canonical(%x) = %x, the library writes %x", raw, once, b)
		}
	})
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, in := range published(f) {
		f.Add(in)
	}
	f.Add([]byte(`{"a":[1e-400,-0,"\u00e9"],"A":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := CanonicalJSON(raw)
		canon, twins, err2 := CanonicalDistinct(raw)
		if (err == nil) != (err2 == nil) || !bytes.Equal(once, canon) {
			t.Fatalf("CanonicalJSON(%s) = %s, %v, CanonicalDistinct says %s, %v", raw, once, err, canon, err2)
		}
		if err != nil {
			return
		}
		if alone := CheckNames(once); (twins == nil) != (alone == nil) {
			t.Fatalf("CheckNames(%s) = %v, CanonicalDistinct says %v", once, alone, twins)
		}
		twice, err := CanonicalJSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("CanonicalJSON(%s) = %s, then %s, %v", raw, once, twice, err)
		}
		if other, err := jcs.Transform(raw); err != nil || !bytes.Equal(once, other) {
			t.Fatalf("CanonicalJSON(%s) = %s, another library writes %s, %v", raw, once, other, err)
		}
	})
}

// published are the inputs of the JCS vectors, right and wrong ones.
func published(f *testing.F) (inputs [][]byte) {
	data, err := os.ReadFile("testdata/jcs.json")
	if err != nil {
		f.Fatal(err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		f.Fatal(err)
	}
	for _, group := range []string{"canonicalize", "reject_all"} {
		var cases []map[string]string
		if err := json.Unmarshal(file[group], &cases); err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			in, err := hex.DecodeString(c["input_hex"])
			if err != nil {
				f.Fatal(err)
			}
			inputs = append(inputs, in)
		}
	}
	return inputs
}
