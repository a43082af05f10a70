// Package ledger holds the rules of a hub's credits (wire 2, section K): who may
// move what, in which order that is checked, what is sold at the gateway, and the
// signed chain of what came into circulation and what left it.
//
// The one rule its users must know: an authorization moves what its payer signed,
// once. Whoever brings it again gets the receipt of that one time. A failure that
// is no *Refusal leaves open whether it moved, and only the same authorization may
// be tried again.
//
//	presented ─ checks of K.3 ─┬─ refused: one constant, nothing moved
//	                           ├─ on record: the original receipt
//	                           └─ booked: debit, credit, receipt in one transaction
package ledger
