// Package forward takes sealed messages from hub to hub and finds the keys of
// agents that are registered elsewhere (wire 2, J.2 and J.3).
//
// The one rule its users must know: nothing of another hub is stored on the way.
// A message is delivered when the hub of its recipient says so, and until then it
// lies in the queue of its sender alone, who sends the same bytes again.
package forward
