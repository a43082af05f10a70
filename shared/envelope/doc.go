// Package envelope seals what one agent writes to another and opens it again
// (wire 2, section E). A hub sees the outer map only; who wrote, what kind of
// message it is and which task it belongs to are inside.
//
//	outer {1 version, 2 to, 3 suite, 4 kid, 5 enc, 6 ct}          what a hub sees
//	  ct = HPKE seal of
//	  inner {1 from … 12 keys, 20 signature, 21 padding, 64… extensions}
//
// The one rule: act on nothing an opened Message says before CheckTime and
// VerifyInnerSig accepted it, and seal a message once. What is sent
// again is the same to the byte, or a receiver could do the work twice.
//
// Parsing keeps references into the bytes it was given; they must not be
// changed afterwards.
package envelope
