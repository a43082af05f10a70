package testkit

import (
	"testing"
	"time"
)

// Patience is for machines that do something else for a while, and says nothing of
// how long a thing may take.
const Patience = 2 * time.Minute

// Until waits for a condition. What it waits for is said in words: they are all
// that is left when it does not come.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, Patience, what, holds)
}

// Within is Until for what is known to take its time. The last look is one after the
// deadline: a machine that stood still meanwhile is given another chance.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for late := false; !holds(); late = time.Now().After(deadline) {
		if late {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
