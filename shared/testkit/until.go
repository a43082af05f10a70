package testkit

import (
	"testing"
	"time"
)

// Until waits for a condition. What it waits for is said in words: they are all
// that is left when it does not come.
func Until(t testing.TB, within time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}
