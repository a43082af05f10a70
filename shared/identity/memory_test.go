package identity

import (
	"bytes"
	"runtime"
	"testing"
)

// A history nobody vouches for costs less than four times the cap, however it
// is made.
func TestHostileHistoriesStaySmall(t *testing.T) {
	full := func(head string, body string) []byte {
		room := MaxKELBytes - len(head)
		return append([]byte(head), bytes.Repeat([]byte(body), room/len(body))...)
	}
	for _, tt := range []struct {
		name string
		kel  []byte
	}{
		{"announces four billion events", []byte("\x9a\xff\xff\xff\xff")},
		{"65,000 empty events", full("\x99\xff\xfc", "\x80")},
		{"one event of 65,000 keys", full("\x81\xa1\x01\xa1\x05\x99\xff\xf8", "\x40")},
		{"one event of unknown members", full("\x81\xb9\x40\x00", "\x19\x80\x00\x00")},
		{"events without an end", full("\x9f", "\x9f")},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Replay(tt.kel)
		plausible := Plausible(tt.kel, 0, nil, make([]byte, 64))
		runtime.ReadMemStats(&after)
		if err == nil || plausible {
			t.Errorf("%s: it is accepted", tt.name)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4*MaxKELBytes {
			t.Errorf("%s: took %d bytes", tt.name, n)
		}
	}
}
