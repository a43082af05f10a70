package task

import (
	"runtime"
	"testing"
)

// A body is parsed before it is known whether anybody wants it, so its files are
// read where they lie.
func TestFilesAreReadWhereTheyLie(t *testing.T) {
	const size = 16 << 20
	raw, err := Encode(DelegateReq{TaskDoc: []byte("doc"), Attachments: []Attachment{{Name: "a", Data: make([]byte, size)}}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	req, err := Parse[DelegateReq](raw)
	runtime.ReadMemStats(&after)
	if err != nil || len(req.Attachments) != 1 || len(req.Attachments[0].Data) != size {
		t.Fatalf("Parse = %d files, %v", len(req.Attachments), err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > size/8 {
		t.Errorf("parsing %d bytes takes %d more, want next to none", size, grown)
	}
}

// Files in other forms of CBOR read as they did.
func TestFilesInOtherForms(t *testing.T) {
	head := "\xa1\x05\x81\xa2\x01\x61a\x05" // {5: [{1: "a", 5: …
	for _, tt := range []struct {
		name, in, want string
		ok             bool
	}{
		{"as it should be", "\x42xy", "xy", true},
		{"a long head", "\x58\x02xy", "xy", true},
		{"in chunks", "\x5f\x41x\x41y\xff", "xy", true},
		{"null", "\xf6", "", true},
		{"a text", "\x62xy", "", false},
		{"a number", "\x05", "", false},
	} {
		req, err := Parse[DelegateReq]([]byte(head + tt.in))
		if (err == nil) != tt.ok || err == nil && string(req.Attachments[0].Data) != tt.want {
			t.Errorf("%s: %+v, %v, want %q, accepted %v", tt.name, req.Attachments, err, tt.want, tt.ok)
		}
	}
}
