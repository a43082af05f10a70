package cmdline

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestCredits(t *testing.T) {
	for _, tt := range []struct {
		said string
		want uint64 // 7 where it is refused
	}{
		{"0", 0}, {"10", 10}, {"18446744073709551615", 1<<64 - 1},
		{"", 7}, {"010", 7}, {"0x10", 7}, {"0b1", 7}, {"1_000", 7}, {"+1", 7}, {"-1", 7}, {"1e3", 7}, {" 1", 7}, {"１", 7}, {"18446744073709551616", 7},
	} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		var n uint64
		Credits(f, &n, "max", 7, "")
		if err := f.Parse([]string{"--max=" + tt.said}); n != tt.want || (err == nil) == (tt.want == 7) {
			t.Errorf("--max=%s is %d, %v; want %d", tt.said, n, err, tt.want)
		}
	}
}
