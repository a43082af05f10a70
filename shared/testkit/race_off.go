//go:build !race

package testkit

// Race says that the race detector is compiled in.
const Race = false
