// Package node is what people and programs on this machine may ask of a
// running node: start and follow tasks, answer them, look others up, decide who
// may call. The control socket and the command line are two ways to it.
//
// Every answer is what the node has durably recorded, never a hope: a task that
// StartTask returned survives a crash that follows at once.
package node

import "context"

// API is the whole surface. Failures carry a kind and a stable reason of
// shared/errs; their sentences say what to do next.
type API interface {
	Tasks
	Directory
	Access
	Membership
	Credits

	// Status is the truth of this moment; it asks the hub, within a second or
	// two, what it lists, and says so when the hub does not answer.
	Status(ctx context.Context) (Status, error)
}

// Tasks starts, follows and ends tasks of both roles.
type Tasks interface {
	// StartTask signs and queues a delegation. Invalid when the order makes no
	// sense; nobody is contacted before it is on disk.
	StartTask(ctx context.Context, order Order) (Task, error)
	// Message says something within a task of either role. NotFound for an
	// unknown task, Conflict for one that has ended.
	Message(ctx context.Context, id, text string, files []File) (Task, error)
	// End completes a text task at its provider with result and receipt, the
	// text, if any, being the last word. At the requester it asks the provider to.
	End(ctx context.Context, id, text string, files []File) (Task, error)
	// Cancel withdraws a delegation nobody has seen, and asks otherwise.
	Cancel(ctx context.Context, id string) (Task, error)
	// Pay signs for the quote of a task and sends the payment. Conflict where there
	// is nothing to pay or a payment is under way, Forbidden where a limit of this
	// node, or the quote itself, does not let it.
	Pay(ctx context.Context, id string, c Consent) (Task, error)

	// Review publishes what this node thinks of work it asked for. Conflict for a
	// task without a verified receipt, or one that was reviewed; Forbidden where
	// the hub does not take it.
	Review(ctx context.Context, id string, o Opinion) (Task, error)

	Task(ctx context.Context, id string) (Task, error)
	// List pages through tasks, the latest change first.
	List(ctx context.Context, q Query) (Page, error)
	// Thread is a task with everything said in it.
	Thread(ctx context.Context, id string) (Thread, error)
	// File is the content of an attachment of the task.
	File(ctx context.Context, id, cid string) (File, error)
	// Wait returns the task as soon as its Version is above seen, or when ctx
	// ends, whichever comes first; running out of time is no error. A seen of
	// -1 answers at once.
	Wait(ctx context.Context, id string, seen int64) (Task, error)
}

// Directory looks other agents up at the hub.
type Directory interface {
	// Find asks for agents by text or, exactly, by capability expression. The
	// two questions are never mixed: setting both is Invalid.
	Find(ctx context.Context, q FindQuery) (Found, error)
	// Card is the verified public card of an agent.
	Card(ctx context.Context, aid string) (Card, error)
}

// Access is who may call this node.
type Access interface {
	Peers(ctx context.Context) (Peers, error)
	// SetPeer puts an agent on one list and takes it off the two others. To deny
	// cancels its open tasks.
	SetPeer(ctx context.Context, aid string, list List) error
	// RemovePeer takes an agent off every list. NotFound when it was on none.
	RemovePeer(ctx context.Context, aid string) error
	// Policy is what becomes of a delegation of an agent on no list.
	Policy(ctx context.Context) (string, error)
	// SetPolicy writes the policy into the configuration and applies it at once.
	SetPolicy(ctx context.Context, policy string) error
}

// Membership is the node's place at its hub, and its own identity.
type Membership interface {
	// Register lists the node now and reports what the hub made of it. An empty
	// name keeps the present one; the invite is needed once, where the hub asks.
	Register(ctx context.Context, name, invite string) (Registration, error)
	// Leave takes the node off its hub. Undelivered mail is lost, and counted.
	Leave(ctx context.Context) (Left, error)
	// SetProfile changes what the directory says of the node, and registers.
	SetProfile(ctx context.Context, p Profile) (Registration, error)
	// Visibility is who beyond the hub may learn of the node, as it is configured.
	Visibility(ctx context.Context) (string, error)
	// SetVisibility writes it into the configuration and tells the hub. When that
	// fails it is written down all the same, and told as soon as the hub can hear it.
	SetVisibility(ctx context.Context, visibility string) error
	Identity(ctx context.Context) (Identity, error)
	// RotateIdentity moves to the next key; the AID stays.
	RotateIdentity(ctx context.Context) (Identity, error)
}
