package codec

import (
	"bytes"
	"os"
	"testing"
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
	for _, file := range []string{"jcs.json", "jcs-number-tokens.json"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"a":[1e-400,-0,"\u00e9"],"A":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := CanonicalJSON(raw)
		if err != nil {
			return
		}
		twice, err := CanonicalJSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("CanonicalJSON(%s) = %s, then %s, %v", raw, once, twice, err)
		}
	})
}
