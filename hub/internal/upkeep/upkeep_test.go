package upkeep

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkGoesOnAndTroubleIsSaidOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(context.Context, time.Duration, *slog.Logger, string, func(context.Context) error) error
		want int // times in five pauses and a half
	}{
		{"after each pause", Every, 5},
		{"at once, too", AtOnce, 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second+500*time.Millisecond)
			defer cancel()
			done := 0
			err := tt.run(ctx, time.Second, slog.New(slog.NewTextHandler(&said, nil)), "it is stuck", func(context.Context) error {
				if done++; done == 3 {
					return nil // well once, between two failures and the others
				}
				return errors.New("no")
			})
			if err != nil || done != tt.want {
				t.Errorf("%s: done %d times and ended with %v, want %d times and nil", tt.name, done, err, tt.want)
			}
			if n := strings.Count(said.String(), "it is stuck"); n != 2 {
				t.Errorf("%s: said %d times, want 2: %s", tt.name, n, said.String())
			}
		})
	}
}
