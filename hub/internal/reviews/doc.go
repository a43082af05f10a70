// Package reviews holds the rules of what requesters say of providers (wire 2,
// I.7 and I.8): a review counts together with the receipt of the work, both
// signed by whom they name, and one requester has one word on one piece of work.
//
// The hub never sees the work itself. That the receipt is about what was really
// asked and delivered only the two parties can check, so every answer says that
// the content is not bound.
package reviews
