//go:build race

package testkit

// Race says that the race detector is compiled in. The compiler then allocates
// twice where a slice grows by what append(s, make([]byte, n)...) would add.
const Race = true
