// Package effect says what a capability call did to the world, and how sure
// its provider is of that (wire 2, section G).
//
// A completed task is no proof of an effect: only OK is. Whoever retries a
// call must look at MayHaveHappened first.
package effect

import "github.com/anet-hub/anet/shared/task"

// Status is the honest outcome of a call, in its deliverable and as
// anet.effect_status beside it.
type Status string

// The outcomes. A peer's word for one is read with Read.
const (
	OK              Status = "OK"               // happened and was observed
	Unverified      Status = "UNVERIFIED"       // may have happened, nobody can tell
	Failed          Status = "FAILED"           // did not happen
	Unavailable     Status = "UNAVAILABLE"      // certainly not attempted
	PaymentRequired Status = "PAYMENT_REQUIRED" // priced; a quote, never a result
)

// Read takes a peer's word for an outcome. One that has no name here is
// UNVERIFIED: to call it anything better would invite a second call.
func Read(word string) Status {
	switch s := Status(word); s {
	case OK, Unverified, Failed, Unavailable, PaymentRequired:
		return s
	}
	return Unverified
}

// State is the task state that goes with the outcome (section G.3). A paid
// call that could not run has failed: the payer is owed more than a refusal.
func (s Status) State(paid bool) task.State {
	switch Read(string(s)) {
	case Failed:
		return task.Failed
	case Unavailable:
		if paid {
			return task.Failed
		}
		return task.Rejected
	case PaymentRequired:
		return task.InputRequired
	}
	return task.Completed
}

// MayHaveHappened reports whether a second call could double the effect.
func (s Status) MayHaveHappened() bool {
	s = Read(string(s))
	return s == OK || s == Unverified
}
