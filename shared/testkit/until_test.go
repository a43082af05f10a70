package testkit

import (
	"testing"
	"testing/synctest"
	"time"
)

// What came while the machine stood still came in time.
func TestWithinLooksOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		Within(t, time.Minute, "an hour has passed", func() bool {
			came := time.Since(start) > time.Hour
			if !came {
				time.Sleep(2 * time.Hour) // the machine, not the condition
			}
			return came
		})
	})
}
