// Package inbound decides what becomes of the messages of others: who may
// delegate work to this node, what may be said within a task, and what an
// answer to this node's own tasks changes (wire 2, section L).
//
// The one rule: a refusal is on disk before anybody is told of it, and an
// acceptance is on disk, together with its replay row, before the hub is told.
package inbound

import (
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Request is what a decision about a delegation looks at.
type Request struct {
	Denied bool // on the deny list, or the list cannot be read
	Listed bool // on the allow or trust list
	Call   bool // a capability call; otherwise text
	Public bool // the id as called is a public capability
	Policy config.Policy
}

// Decision is what becomes of a delegation. Public capabilities are still to
// be admitted within their limits.
type Decision struct {
	Refuse task.Reason // empty when it is accepted
	Trust  journal.Trust
}

// Decide goes through the rules from the top, and one of them settles it (L.1,
// without the approval queue). Under the closed policy a denied peer hears what
// a stranger hears: being denied cannot be told from not being known.
func Decide(r Request) Decision {
	closed := r.Policy != config.Open
	switch {
	case r.Denied && closed:
		return Decision{Refuse: task.NotAccepting}
	case r.Denied:
		return Decision{Refuse: task.Denied}
	case r.Call && r.Public:
		return Decision{Trust: journal.TrustPublicCap}
	case r.Listed:
		return Decision{Trust: journal.TrustPeer}
	case closed:
		return Decision{Refuse: task.NotAccepting}
	case r.Call:
		return Decision{Refuse: task.CapabilityNotPublic}
	}
	return Decision{Trust: journal.TrustPublic}
}

// Turn is what a decision about a message within a task looks at (L.5).
type Turn struct {
	Kind    string         // of the ChatMsg
	Payment payment.Status // "" for none

	Known    bool          // this node holds the task
	SamePeer bool          // with the sender
	Role     journal.Role  // this node's
	Trust    journal.Trust // of a provider's task
	Ended    bool

	Denied, Listed bool
	Related        bool          // stored identity, listed, or contacted by this node
	Age            time.Duration // of the message
	Waiting        int           // messages of the sender that wait already
}

// Action is what is done with a message.
type Action string

// The actions. A name with a dash is a drop, counted under it.
const (
	Take        Action = "take"           // record it and act on it
	TakeCancel  Action = "cancel-ahead"   // its task has not come yet and is not to run
	WaitForTask Action = "wait"           // class T: the task may be about to come
	NotFound    Action = "task-not-found" // drop, and say so within the limits of notices
	DropDenied  Action = "denied"
	DropPeer    Action = "not-peer"
	DropAllowed Action = "not-allowed"
	DropPublic  Action = "public-cap-text"
	DropEnded   Action = "after-the-end"
	DropKind    Action = "wrong-kind"
)

// The window of an unknown task (L.5).
const (
	WaitWindow    = 10 * time.Minute
	WaitPerSender = 32
)

// DecideTurn applies the first rule that speaks.
func DecideTurn(t Turn) Action {
	switch {
	case !sayable(t):
		return DropKind
	case !t.Known:
		return decideUnknown(t)
	case t.Denied:
		return DropDenied
	case !t.SamePeer:
		return DropPeer
	case t.Role == journal.Provider && t.Trust == journal.TrustPeer && !t.Listed:
		return DropAllowed
	case t.Role == journal.Provider && t.Trust == journal.TrustPublicCap && t.Kind == task.KindText && !pays(t):
		return DropPublic
	case t.Ended:
		return DropEnded
	}
	return Take
}

// sayable refuses kinds that nobody may say, and those only a requester may.
func sayable(t Turn) bool {
	switch t.Kind {
	case task.KindText:
		return true
	case task.KindCancel, task.KindEndRequest:
		return !t.Known || t.Role == journal.Provider
	}
	return false
}

func pays(t Turn) bool {
	return t.Payment == payment.StatusSubmitted || t.Payment == payment.StatusRejected
}

// decideUnknown lets only those wait whom this node knows: a stranger could
// otherwise fill the mailbox with messages that are never acknowledged. A denied
// peer is answered as a stranger is, since silence would tell it that it is.
func decideUnknown(t Turn) Action {
	switch {
	case t.Kind == task.KindCancel && t.Denied:
		return DropDenied
	case t.Kind == task.KindCancel:
		return TakeCancel
	case t.Related && !t.Denied && t.Age < WaitWindow && t.Waiting < WaitPerSender:
		return WaitForTask
	}
	return NotFound
}
