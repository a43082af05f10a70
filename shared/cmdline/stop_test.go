package cmdline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPersonWhoDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		answer := make(chan string)
		defer close(answer)
		if _, err := UnlessStopped(ctx, func() (string, error) { return <-answer, nil }); err != context.DeadlineExceeded {
			t.Errorf("the question ended with %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
