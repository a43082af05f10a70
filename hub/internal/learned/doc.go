// Package learned holds the rules of what other hubs teach this one (wire 2,
// J.4): which entries of a peer's streams are believed, which are asked for
// again, and when.
//
// The one rule: a peer is believed nothing. An entry counts by the signature of
// the agent it is about, under a history that only ever grows, and never against
// a newer word of the same agent. What a peer can do wrong it does to its own
// stream alone.
//
// Entries are vetted outside of any transaction, which costs signatures, and
// decided on inside of the one that moves the reading on, beside what stands on
// record then. An entry that is refused for good is counted and passed. One that
// is refused for now is noted as held: the stream counts as read up to the first
// of them, and what stands behind it is read all the same.
package learned
