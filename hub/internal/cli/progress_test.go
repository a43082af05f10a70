package cli

import (
	"strings"
	"testing"
	"time"
)

// The line is written for something new at once, then five times a second, and is
// gone at the end.
func TestProgressOfACount(t *testing.T) {
	var to strings.Builder
	now := time.Unix(0, 0)
	p := &progress{to: &to, now: func() time.Time { return now }}
	p.count("sums", 0)
	for n := range int64(2000) {
		p.count("payments", n+1)
		now = now.Add(100 * time.Microsecond)
	}
	p.count("payments", 2001)
	p.end()
	const line = "\r\033[K"
	if want := line + "sums..." + line + "payments 1" + line + "payments 2,001" + line; to.String() != want {
		t.Errorf("%q, want %q", to.String(), want)
	}
}
