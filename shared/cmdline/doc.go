// Package cmdline is what the command lines of both programs have in common: how
// they print, how they say that they were used wrongly, how they ask, and what
// their help holds.
//
// The one rule: results go to stdout, everything else to stderr, and nothing
// repeats an argument it did not expect, since that may be a secret in the wrong
// place.
package cmdline
