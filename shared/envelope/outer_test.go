package envelope

import (
	"encoding/hex"
	"runtime"
	"testing"
)

// outerMembers is an envelope to be taken apart.
func outerMembers() members {
	o := Outer{To: "bob", Suite: SuiteX25519, Enc: make([]byte, 32), CT: []byte{1}}
	m, _ := parseMembers(o.Bytes())
	return m
}

// Checklist 17: the order of parsing the outer map.
func TestParseOuter(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(members)
		want Reason
	}{
		{"as made", func(members) {}, ""},
		{"extensions are ignored", func(m members) { m[64], m[1<<63] = item{0xf6}, item{0x9f, 0xff} }, ""},
		{"a recipient in chunks", func(m members) { m[2] = item("\x7f\x61b\x62ob\xff") }, ""},
		{"a ciphertext in chunks", func(m members) { m[6] = item("\x5f\x41a\x41b\xff") }, ""},
		{"a longer head than needed", func(m members) { m[1] = item{0x18, 1} }, ""},
		{"no version", func(m members) { delete(m, 1) }, BadVersion},
		{"version two", func(m members) { m[1] = uintItem(2) }, BadVersion},
		{"version null", func(m members) { m[1] = item{0xf6} }, BadVersion},
		{"version before the rest", func(m members) { clear(m) }, BadVersion},
		{"version before unknown members", func(m members) { m[1], m[7] = uintItem(2), uintItem(1) }, BadVersion},
		{"the member zero", func(m members) { m[0] = uintItem(1) }, UnknownCriticalField},
		{"the reserved member", func(m members) { m[7] = bytesItem(nil) }, UnknownCriticalField},
		{"the last critical member", func(m members) { m[63] = bytesItem(nil) }, UnknownCriticalField},
		{"unknown members before the recipient", func(m members) { delete(m, 2); m[63] = bytesItem(nil) }, UnknownCriticalField},
		{"no recipient", func(m members) { delete(m, 2) }, BadOuter},
		{"an empty recipient", func(m members) { m[2] = textItem("") }, BadOuter},
		{"a recipient of bytes", func(m members) { m[2] = bytesItem([]byte("bob")) }, BadOuter},
		{"the recipient before the suite", func(m members) { delete(m, 2); m[3] = uintItem(2) }, BadOuter},
		{"the reserved suite", func(m members) { m[3] = uintItem(2) }, UnknownSuite},
		{"no suite", func(m members) { delete(m, 3) }, UnknownSuite},
		{"the suite before the key id", func(m members) { m[3] = uintItem(0); m[4] = bytesItem(nil) }, UnknownSuite},
		{"a short key id", func(m members) { m[4] = bytesItem(make([]byte, 15)) }, BadOuter},
		{"no key id", func(m members) { delete(m, 4) }, BadOuter},
		{"a long encapsulated key", func(m members) { m[5] = bytesItem(make([]byte, 33)) }, BadOuter},
		{"an encapsulated key of text", func(m members) { m[5] = textItem(string(make([]byte, 32))) }, BadOuter},
		{"an empty ciphertext", func(m members) { m[6] = bytesItem(nil) }, BadOuter},
		{"a null ciphertext", func(m members) { m[6] = item{0xf6} }, BadOuter},
	} {
		m := outerMembers()
		tt.edit(m)
		if _, err := ParseOuter(m.encode()); ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, in := range map[string]string{
		"nothing": "", "null": "f6", "a list": "80", "a text key": "a2010161610a", "a negative key": "a201012000",
		"a key twice": "a201010101", "a key twice, written longer": "a20101180101", "a tag": "c0a10101",
		"bytes behind": "a1010100", "a tag in an extension": "a201011840c000", "cut short": "a201",
	} {
		raw, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseOuter(raw); ReasonOf(err) != BadOuter {
			t.Errorf("%s: %v, want %s", name, err, BadOuter)
		}
	}
	if _, err := ParseOuter(make([]byte, MaxBytes+1)); ReasonOf(err) != BadOuter {
		t.Errorf("an envelope above the cap: %v, want %s", err, BadOuter)
	}
}

func TestOuterIsReadWhereItLies(t *testing.T) {
	const size = 32 << 20
	wire := Outer{To: "bob", Suite: SuiteX25519, Enc: make([]byte, 32), CT: make([]byte, size)}.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o, err := ParseOuter(wire)
	runtime.ReadMemStats(&after)
	if err != nil || len(o.CT) != size {
		t.Fatal(err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("parsing %d bytes takes %d more, want next to none", size, grown)
	}
}
