package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// promised is what docs/hub.md says of SIGTERM.
const promised = 10 * time.Second

func TestAStopKeepsToOneClock(t *testing.T) {
	var (
		quick   = func(context.Context) error { return nil }
		heeding = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		hanging = func(context.Context) error { time.Sleep(time.Hour); return nil }
		failing = func(context.Context) error { return errors.New("no") }
	)
	type ends = [4]func(context.Context) error
	tests := []struct {
		name  string
		ends  ends
		took  time.Duration
		wants []string
	}{
		{"nothing in the way", ends{quick, quick, quick, quick}, 0, nil},
		{"requests take all their time", ends{heeding, quick, quick, quick}, requestsBy, []string{"deadline"}},
		{"the time others left is the database's", ends{quick, quick, quick, heeding}, databaseBy, []string{"deadline"}},
		{"everything takes all its time", ends{heeding, heeding, heeding, heeding}, databaseBy, []string{"deadline"}},
		{"everything hangs", ends{hanging, hanging, hanging, hanging}, databaseBy + leftBehind,
			[]string{"requests did not end", "loops did not end", "connections did not end", "database did not end"}},
		{"a failure stops nothing", ends{failing, hanging, failing, quick}, loopsBy + leftBehind, []string{"no", "loops did not end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := stop(t.Context(), part{"requests", requestsBy, tt.ends[0]}, part{"loops", loopsBy, tt.ends[1]},
					part{"connections", connectionsBy, tt.ends[2]}, part{"database", databaseBy, tt.ends[3]})
				took := time.Since(start)
				if took != tt.took || took >= promised {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
				if (err == nil) != (len(tt.wants) == 0) {
					t.Errorf("error %v, want %q", err, tt.wants)
				}
				for _, want := range tt.wants {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("error %v, want %q in it", err, want)
					}
				}
				time.Sleep(time.Hour) // what was left behind ends, too
			})
		})
	}
}
