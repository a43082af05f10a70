// Package node is what people and programs on this machine may ask of a
// running node: start and follow tasks, answer them, look others up, decide who
// may call. The control socket and the command line are two ways to it.
//
// Every answer is what the node has durably recorded, never a hope: a task that
// StartTask returned survives a crash that follows at once.
package node

import (
	"context"
	"encoding/json"
	"time"
)

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

// Role says on which side of a task this node stands.
type Role string

// The two roles.
const (
	Requester Role = "requester"
	Provider  Role = "provider"
)

// Order is a delegation to make: text, or a capability with its arguments.
type Order struct {
	Provider   string          `json:"provider"` // AID
	Text       string          `json:"text,omitempty"`
	Capability string          `json:"capability,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // a JSON object, {} when absent
	Files      []File          `json:"files,omitempty"`
	ContextID  string          `json:"context_id,omitempty"`
	Pay        *Consent        `json:"pay,omitempty"` // what may be paid if it has a price
}

// File is an attachment. Name and Mime are the sender's word; a receiver
// writes the data only into a fresh folder of its own (F.6).
type File struct {
	Name string `json:"name"`
	Mime string `json:"mime,omitempty"`
	Size int64  `json:"size"`
	CID  string `json:"cid,omitempty"` // of the data; computed when absent
	Data []byte `json:"data,omitempty"`
}

// Task is a task as the node knows it.
type Task struct {
	ID         string          `json:"task_id"`
	Role       Role            `json:"role"`
	Peer       string          `json:"peer"`
	ContextID  string          `json:"context_id,omitempty"`
	Capability string          `json:"capability,omitempty"` // empty for a text task
	Args       json.RawMessage `json:"args,omitempty"`
	Text       string          `json:"text,omitempty"` // the goal of a text task

	State           string          `json:"state"`         // submitted working input-required completed failed canceled rejected
	Effect          *string         `json:"effect_status"` // G.3; null for a text task and before the end
	Reason          string          `json:"reason"`
	Message         string          `json:"message,omitempty"` // the reason as a sentence that says what to do
	Note            string          `json:"note,omitempty"`    // the other side's words, where they say more than that
	RetryAfterMS    int64           `json:"retry_after_ms,omitempty"`
	Deliverable     json.RawMessage `json:"deliverable"`      // null before the end
	ReceiptVerified string          `json:"receipt_verified"` // verified unverified unknown
	RequestCID      string          `json:"request_cid,omitempty"`
	ResultCID       string          `json:"result_cid,omitempty"`
	Receipt         []byte          `json:"receipt,omitempty"` // the signed object
	Review          *Review         `json:"review,omitempty"`  // what this node said of it
	Payment         *Payment        `json:"payment,omitempty"` // of a call that has a price

	// Delivery is how far the delegation of a requester came: queued, sent, or
	// answered once anything came back.
	Delivery        string    `json:"delivery,omitempty"`
	ViaHub          string    `json:"via_hub,omitempty"` // AID of the hub that ours carried it to
	Attempts        int       `json:"attempts,omitempty"`
	LastError       string    `json:"last_error,omitempty"` // why the latest attempt failed
	CancelRequested bool      `json:"cancel_requested,omitempty"`
	LateResult      bool      `json:"late_result,omitempty"` // a verified result came after the end
	Ended           bool      `json:"ended"`
	Version         int64     `json:"version"` // grows with every change
	Created         time.Time `json:"created"`
	Updated         time.Time `json:"updated"`
}

// Opinion is what a requester thinks of a piece of work.
type Opinion struct {
	Rating  int    `json:"rating"` // 1 to 5
	Comment string `json:"comment,omitempty"`
}

// Review is an opinion that was signed. Published says that the hub has it.
type Review struct {
	Opinion
	At        time.Time `json:"at"`
	Published bool      `json:"published"`
}

// Query filters tasks; zero members do not filter.
type Query struct {
	Role  Role   `json:"role,omitempty"`
	Ended *bool  `json:"ended,omitempty"`
	State string `json:"state,omitempty"`
	Peer  string `json:"peer,omitempty"`
	Text  *bool  `json:"text,omitempty"` // text tasks only, or capability calls only
	// ContextID groups tasks of one conversation.
	ContextID string `json:"context_id,omitempty"`
	Limit     int    `json:"limit,omitempty"` // 1 to 500, 50 when absent
	Cursor    string `json:"cursor,omitempty"`
}

// Inbox is the question behind `anet inbox`: what others want of this node.
func Inbox() Query { return Query{Role: Provider} }

// Results is the question behind `anet results`: what this node asked for and
// has an end.
func Results() Query { ended := true; return Query{Role: Requester, Ended: &ended} }

// Page is one page of tasks.
type Page struct {
	Tasks      []Task `json:"tasks"`
	Limit      int    `json:"limit"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Thread is a task and its conversation, oldest first.
type Thread struct {
	Task     Task      `json:"task"`
	Files    []File    `json:"files,omitempty"` // of the request
	Messages []Message `json:"messages"`
}

// Message is one turn. Files carry no data here; Tasks.File fetches it.
type Message struct {
	ID    string    `json:"message_id"`
	From  Role      `json:"from"`
	Kind  string    `json:"kind"` // text end_request cancel status
	Text  string    `json:"text"`
	Files []File    `json:"files,omitempty"`
	At    time.Time `json:"at"`
	Sent  *bool     `json:"sent,omitempty"` // own messages: has the hub taken it
}

// FindQuery is one question to the directory.
type FindQuery struct {
	Text   string `json:"text,omitempty"`
	Cap    string `json:"cap,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// Found is the hub's answer, its statement and no proof.
type Found struct {
	Agents     []Agent `json:"agents"`
	NextCursor string  `json:"next_cursor,omitempty"`
}

// Agent is a directory entry. Tags are the capabilities that no card vouches for.
type Agent struct {
	AID          string   `json:"aid"`
	Name         string   `json:"name"`
	Capabilities []string `json:"caps"`
	Tags         []string `json:"tags,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Pricing      string   `json:"pricing,omitempty"`
	Rating       float64  `json:"avg_rating"`
	Reviews      int64    `json:"review_count"`
	HomeHub      string   `json:"home_hub,omitempty"`
	LastSeen     string   `json:"last_seen,omitempty"`
	Quiet        bool     `json:"quiet,omitempty"`
	Charge       string   `json:"charge,omitempty"` // by its public card: free, some, all
}

// Card is an agent's card and what checking it gave.
type Card struct {
	AID      string          `json:"aid"`
	Verified bool            `json:"verified"`
	Code     string          `json:"code,omitempty"` // why it is not verified (H.4)
	Card     json.RawMessage `json:"card"`
	Rating   float64         `json:"avg_rating"` // the hub's word
	Reviews  int64           `json:"review_count"`
	// Charge is what the public card says of prices: free, some or all.
	Charge string `json:"charge,omitempty"`
	// Prices are what the agent signed; PricesError is why there are none although
	// there may be some.
	Prices      *Prices `json:"prices,omitempty"`
	PricesError string  `json:"prices_error,omitempty"`
}

// What a card says of prices.
const (
	ChargeFree = "free"
	ChargeSome = "some"
	ChargeAll  = "all"
)

// Prices are what an agent signed that its capabilities cost. A payment follows
// the quote of its task; a quote above these is not paid without a person.
type Prices struct {
	Network  string          `json:"network"`
	Skills   []SkillPrice    `json:"skills"`
	Source   string          `json:"source"`   // extended or public: the card they stand on
	Verified bool            `json:"verified"` // the signature holds
	Fetched  *time.Time      `json:"fetched,omitempty"`
	Card     json.RawMessage `json:"card,omitempty"` // the extended one
}

// SkillPrice is one of them: credits as a decimal string, 0 for free.
type SkillPrice struct {
	ID     string `json:"id"`
	Amount string `json:"amount"`
}

// List is one of the three lists of peers.
type List string

// The lists. Trust includes what allow permits.
const (
	Allow List = "allow"
	Trust List = "trust"
	Deny  List = "deny"
)

// Peers are the lists as they stand in the files now.
type Peers struct {
	Allow []string `json:"allow"`
	Trust []string `json:"trust"`
	Deny  []string `json:"deny"`
}

// Profile is what the directory says of the node in the operator's words.
type Profile struct {
	Summary string `json:"summary"`
	Readme  string `json:"readme"`
	Pricing string `json:"pricing"`
}

// Registration is what the hub made of the node's listing.
type Registration struct {
	AID        string    `json:"aid"`
	Hub        string    `json:"hub"`
	At         time.Time `json:"at"`
	Listed     []string  `json:"listed"`
	KeysStatus string    `json:"keys_status"`
	KeysError  string    `json:"keys_error,omitempty"`
	CardStatus string    `json:"card_status"`
	CardError  string    `json:"card_error,omitempty"`
	Added      int       `json:"added"`
	Removed    int       `json:"removed"`
	Unchanged  int       `json:"unchanged"`
	Ignored    []string  `json:"ignored_caps,omitempty"`
	// Visibility is what the hub was told; VisibilityError why it was not.
	Visibility      string `json:"visibility"`
	VisibilityError string `json:"visibility_error,omitempty"`
}

// Left is the hub's answer to leaving it.
type Left struct {
	Hub         string `json:"hub"`
	Undelivered int    `json:"undelivered"`
	Warning     string `json:"warning,omitempty"`
}

// Identity is who the node is.
type Identity struct {
	AID    string `json:"aid"`
	KeySeq uint64 `json:"key_seq"`
	KEL    []byte `json:"kel"`
}

// Status is the truth of this moment, not a copy of the configuration.
type Status struct {
	AID     string    `json:"aid"`
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Policy  string    `json:"policy"`

	Hub      string   `json:"hub"`
	Served   []string `json:"served"`             // what a provider answers now
	Public   []string `json:"public"`             // the part of it a stranger may call
	Tags     []string `json:"tags"`               // the operator's own
	Listed   []string `json:"listed"`             // what the hub lists; null when it cannot be asked
	Missing  []string `json:"missing"`            // should be listed and is not
	Surplus  []string `json:"surplus"`            // listed and should not be
	Unlisted string   `json:"unlisted,omitempty"` // what keeps the hub's lists from showing the node, and what to do
	HubError string   `json:"hub_error,omitempty"`

	Visibility    string `json:"visibility"`               // as configured
	HubVisibility string `json:"hub_visibility,omitempty"` // as the hub has it; empty when it does not say
	CardProblem   string `json:"card_problem,omitempty"`   // why no card was published; other hubs hear of cards alone

	Providers []Health `json:"providers"`

	Registered     bool       `json:"registered"`
	RegisterError  string     `json:"register_error,omitempty"`
	LastRegistered *time.Time `json:"last_registered,omitempty"`
	LastPoll       *time.Time `json:"last_poll,omitempty"` // the latest the hub answered
	PollError      string     `json:"poll_error,omitempty"`
	Stopped        string     `json:"stopped,omitempty"` // why polling was given up for good

	Outbox    int            `json:"outbox"` // messages not yet taken by the hub
	OldestOut *time.Time     `json:"oldest_out,omitempty"`
	Waiting   int            `json:"waiting"` // mail that could not be decided yet
	Running   int            `json:"running"` // calls at work
	Open      int            `json:"open"`    // tasks without an end
	Strangers *Strangers     `json:"strangers,omitempty"`
	Dropped   map[string]int `json:"dropped"` // refused mail by reason, since the start
}

// Strangers is what an open node keeps of the texts of agents on no list, and
// how much that may be. It is absent where there is none and none is taken.
type Strangers struct {
	Tasks    int64 `json:"tasks"` // without an end
	MaxTasks int64 `json:"max_tasks"`
	Bytes    int64 `json:"bytes"`
	MaxBytes int64 `json:"max_bytes"`
}

// Full says whether strangers may soon be refused for want of room.
func (s *Strangers) Full() bool {
	return s != nil && (s.Tasks*10 >= s.MaxTasks*9 || s.Bytes*10 >= s.MaxBytes*9)
}

// Differs says whether the hub lists something else than the node offers.
func (s Status) Differs() bool {
	return len(s.Missing)+len(s.Surplus) > 0 || s.Unlisted != "" || s.OtherVisibility()
}

// OtherVisibility says whether the hub has another one than the node.
func (s Status) OtherVisibility() bool {
	return s.HubVisibility != "" && s.HubVisibility != s.Visibility
}

// Health is one provider and whether it answers.
type Health struct {
	ID    string `json:"id"`
	Error string `json:"error,omitempty"` // empty when healthy
}
