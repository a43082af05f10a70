//go:build faults

package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheWrongClockFollowsItsFile(t *testing.T) {
	c := &wrongClock{file: filepath.Join(t.TempDir(), "offset")}
	for _, tt := range []struct {
		text string
		want time.Duration
	}{
		{"", 0}, {"10m\n", 10 * time.Minute}, {"-1h", -time.Hour}, {"soon", 0},
	} {
		if err := os.WriteFile(c.file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.looked = time.Time{}
		if off := time.Until(c.now()); (off - tt.want).Abs() > time.Minute {
			t.Errorf("%q moves the clock by %s, want %s", tt.text, off, tt.want)
		}
	}
}
