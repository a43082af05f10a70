// Package journal is what the node remembers: tasks of both roles, what was
// said in them, which messages were already accepted or refused, what is on its
// way out, and the receipts. It is one SQLite file with a single writer.
//
// The one rule: what is acknowledged to the hub was committed here first, and
// the replay row of a message is written in the transaction of its effect.
package journal
