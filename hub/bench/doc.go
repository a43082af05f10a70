// Package bench lends the benchmarks of e2e what they cannot reach from
// outside a hub: the statements behind its answers, a directory filled in bulk,
// and its HTTP face with nothing behind it.
//
// The one rule: nothing here is a way around the hub. What is compared with the
// hub does the hub's own statements, or the hub's own routing, and no more.
package bench
