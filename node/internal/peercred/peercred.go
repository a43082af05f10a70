// Package peercred tells which user stands at the other end of a Unix socket.
// The kernel says so, of the very connection at hand: a path may change between
// a look at it and its use.
package peercred

import "os"

// Friend reports whether a user may stand behind a socket: this one, or root,
// who could do anything anyhow.
func Friend(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
