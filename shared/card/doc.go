// Package card is the network card: the A2A agent card a node signs with the
// key of its AID and a hub lists (wire 2, sections H.1 to H.5). It builds cards,
// signs them, reads and verifies those of others. The older directory card is
// in package adp.
//
// A card proves nothing before Verifier.Verify has returned without an error;
// Read alone only tells what somebody claims.
//
// # What is signed
//
// The signature is a detached JWS over the canonical JSON of the card without
// its signatures and without members that hold their proto3 default. SDKs
// disagree on what those are, so a signer here refuses every card that holds an
// empty value anywhere (the publish form), on which all of them agree. Such a
// disagreement also makes verifiers try the card as it stands after the
// stripped form failed. PayloadHash is taken over the stripped form whichever
// of the two verified: it names the statement, not its spelling.
//
// Nothing a verifier must rely on stands in an unknown top-level member, since
// other SDKs drop those; identity, sequence and times are params of the
// anet-card extension.
package card
