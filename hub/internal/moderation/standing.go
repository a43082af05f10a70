package moderation

import "time"

// Standing is an agent as an operator sees it, registered or not.
type Standing struct {
	AID          string
	Name         string
	Registered   bool
	Caps         int
	FirstSeen    time.Time
	RegisteredAt time.Time // zero unless it is registered
	LastSeen     time.Time // zero when it was never heard of since
	Away         bool      // not heard of for so long that lists leave it out
	HiddenAt     time.Time // zero unless it is hidden
	Block        *Block    // nil unless it is blocked
	Mail, Bytes  int64     // waiting for it
}

// Only picks agents of one state. All is every agent that was ever here.
type Only string

// The states an operator asks for.
const (
	All        Only = ""
	Registered Only = "registered"
	Left       Only = "left"
	Blocked    Only = "blocked"
	Hidden     Only = "hidden"
	Away       Only = "away"
)

// Onlys are the states there are.
var Onlys = []Only{Registered, Left, Blocked, Hidden, Away}

// Question asks for agents in the order of AIDs.
type Question struct {
	Only  Only
	After string // an AID
	Limit int
	At    time.Time
}
