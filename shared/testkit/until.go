package testkit

import (
	"testing"
	"time"
)

// patience is for machines that do something else for a while, and say nothing of
// how long a thing may take.
const patience = 2 * time.Minute

// Until waits for a condition. What it waits for is said in words: they are all
// that is left when it does not come.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, patience, what, holds)
}

// Within is Until for what is known to take its time.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
