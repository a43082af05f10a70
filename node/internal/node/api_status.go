package node

import "time"

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
